import SystemCalls
import SystemPackage

/// The location of a repository, and its kind.
package struct RepositoryLocation: Sendable, Hashable {
    /// The kinds of repositories.
    package enum Kind: Sendable, Hashable {
        /// restic: a directory on this machine, or anything else restic can reach.
        case restic
        /// A directory of plain archives: `tar:DIR`.
        case archives
    }

    /// The kind of repository.
    package let kind: Kind
    /// The location in the form that its kind takes.
    package let bytes: [UInt8]
    /// The directory; nil for anything but a directory on this machine.
    package let directory: FilePath?

    /// Creates a location from `tar:DIR`, or from a location as restic takes it: `local:DIR`,
    /// `s3:…`, `sftp:…` and so on, or a directory.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
        if let directory = Self.rest(of: bytes, after: "tar:") {
            kind = .archives
            self.directory = FilePath(bytes: directory)
            return
        }
        kind = .restic
        if let directory = Self.rest(of: bytes, after: "local:") {
            self.directory = FilePath(bytes: directory)
            return
        }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let isPath = scheme.count == bytes.count || scheme.contains(UInt8(ascii: "/"))
        directory = isPath ? FilePath(bytes: bytes) : nil
    }

    /// The identity of the repository's directory; nil when it is elsewhere or does not exist.
    package var identity: FileIdentity? {
        guard let directory else { return nil }
        do throws(Errno) {
            return try directory.status().identity
        } catch {
            // The next caller that opens the repository reports what is wrong with it.
            return nil
        }
    }

    /// The location for messages: without the user and password that a URL may contain.
    package var shown: [UInt8] {
        guard directory == nil, let start = bytes.firstRange(of: Array("://".utf8))?.upperBound,
            let at = bytes[start...].prefix(while: { $0 != UInt8(ascii: "/") })
                .lastIndex(of: UInt8(ascii: "@"))
        else { return bytes }
        return Array(bytes[..<start] + bytes[(at + 1)...])
    }

    private static func rest(of bytes: [UInt8], after scheme: String) -> ArraySlice<UInt8>? {
        bytes.starts(with: scheme.utf8) ? bytes.dropFirst(scheme.utf8.count) : nil
    }
}
