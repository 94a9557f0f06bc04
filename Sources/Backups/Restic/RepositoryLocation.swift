import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The location of a repository.
package struct RepositoryLocation: Sendable, Hashable {
    /// The location as restic takes it.
    package let bytes: [UInt8]
    /// The directory; nil for anything but a directory on this machine.
    package let directory: FilePath?

    /// Creates a location as restic takes it: `local:DIR`, `s3:…`, `sftp:…` and so on, or a directory.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
        let local = "local:".utf8
        if bytes.starts(with: local) {
            directory = FilePath(bytes: bytes.dropFirst(local.count))
            return
        }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let isPath = scheme.count == bytes.count || scheme.contains(UInt8(ascii: "/"))
        directory = isPath ? FilePath(bytes: bytes) : nil
    }

    /// The identity of the repository's directory; nil when it is elsewhere or does not exist.
    package var identity: FileIdentity? {
        // The next caller that opens the repository reports what is wrong with it.
        directory.flatMap { try? $0.status().identity }
    }

    /// The location for messages and notes: without the user and password that it may contain.
    package var shown: [UInt8] {
        guard directory == nil else { return bytes }
        let url = bytes.firstRange(of: Array("://".utf8))?.upperBound
        let sftp = "sftp:".utf8
        guard let start = url ?? (bytes.starts(with: sftp) ? sftp.count : nil) else { return bytes }
        let end = UInt8(ascii: url == nil ? ":" : "/")
        guard let at = bytes[start...].prefix(while: { $0 != end }).lastIndex(of: UInt8(ascii: "@"))
        else { return bytes }
        return Array(bytes[..<start] + bytes[(at + 1)...])
    }

    /// The location as it can be noted: in a form that does not depend on the working directory, and
    /// without user and password.
    package var noted: [UInt8] { directory == nil ? shown : absoluteBytes }

    /// A short name of the place as it is named, whatever is mounted there now.
    var placeName: String {
        guard let directory else { return shortName(for: shown) }
        let base = directory.isAbsolute ? nil : try? workingDirectory()
        let path = base?.pushing(directory) ?? directory
        return shortName(for: path.lexicallyNormalized().bytes)
    }

    /// The location in a form that does not depend on the working directory.
    package var absoluteBytes: [UInt8] {
        // It was used just before, so it is unlikely that it cannot be found.
        directory.flatMap { try? realPath(of: $0).bytes } ?? bytes
    }

    /// A short name of the location, in hexadecimal, for files about the repository.
    package var fingerprint: String { shortName(for: absoluteBytes) }
}
