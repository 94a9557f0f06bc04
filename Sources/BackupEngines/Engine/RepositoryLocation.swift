import SystemCalls
import SystemPackage

/// Where a repository is, and of which kind it is.
package struct RepositoryLocation: Sendable, Hashable {
    /// What keeps the snapshots.
    package enum Kind: Sendable, Hashable {
        /// restic: a directory of this machine, or anything else restic can reach.
        case restic
        /// A directory of plain archives: `tar:DIR`.
        case archives
    }

    /// What keeps the snapshots.
    package let kind: Kind
    /// The location in the words of its kind.
    package let bytes: [UInt8]
    /// The directory; nil for anything but a directory of this machine.
    package let directory: FilePath?

    /// Takes `tar:DIR`, or a location as restic does: `local:DIR`, `s3:…`, `sftp:…` and so on, or a
    /// directory.
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
            // Whoever opens the repository next says what is wrong with it.
            return nil
        }
    }

    private static func rest(of bytes: [UInt8], after scheme: String) -> ArraySlice<UInt8>? {
        bytes.starts(with: scheme.utf8) ? bytes.dropFirst(scheme.utf8.count) : nil
    }
}
