import SystemCalls
import SystemPackage

/// Where a repository is: a directory of this machine, or anything else restic can reach.
package struct RepositoryLocation: Sendable, Hashable {
    /// The location in restic's words.
    package let bytes: [UInt8]
    /// The directory; nil for anything but a directory of this machine.
    package let directory: FilePath?

    /// Takes a location as restic does: `local:DIR`, `s3:…`, `sftp:…` and so on, or a directory.
    package init(bytes: [UInt8]) {
        let local = Array("local:".utf8)
        if bytes.starts(with: local) {
            directory = FilePath(bytes: bytes.dropFirst(local.count))
            self.bytes = bytes
            return
        }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let isPath = scheme.count == bytes.count || scheme.contains(UInt8(ascii: "/"))
        directory = isPath ? FilePath(bytes: bytes) : nil
        self.bytes = bytes
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
}
