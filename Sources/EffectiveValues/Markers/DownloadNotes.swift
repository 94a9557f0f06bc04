import ResourceValues
import SystemCalls
import SystemPackage

/// What a user's journal of evictions says about downloads, for programs that wait for them.
///
/// The journal is a directory with a record for each file that is being evicted or downloaded, and a
/// note for each file whose last download failed.
package struct DownloadNotes: Sendable, Hashable {
    /// The directory, which may not exist.
    package let directory: FilePath

    package init(directory: FilePath) { self.directory = directory }

    /// The notes below a user's state directory, `$XDG_STATE_HOME`.
    package init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("evicted")
    }

    /// The path of the record of a file.
    package func record(of identity: FileIdentity) -> FilePath {
        directory.pushing(RecordName(identity).path)
    }

    /// Whether a file is being downloaded, or its download was interrupted.
    ///
    /// Reads only the state in the record, its second line.
    package func isDownloading(_ identity: FileIdentity) throws(FileError) -> Bool {
        let lines = try contentsOfStateFile(record(of: identity), limit: Self.longestText)?
            .split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        return lines?.dropFirst().first?.elementsEqual("state downloading".utf8) ?? false
    }

    /// Stores why the last download of a file failed; nil removes the stored reason.
    package func note(_ failure: String?, of identity: FileIdentity) throws(FileError) {
        let path = failurePath(identity)
        if let failure { return try write(Array(failure.utf8), to: path) }
        do throws(Errno) {
            try removeFile(path)
        } catch .noSuchFileOrDirectory, .notDirectory {
            return
        } catch {
            throw FileError(error, of: path)
        }
    }

    /// Returns why the last download of a file failed; nil when no reason is stored.
    package func failure(of identity: FileIdentity) throws(FileError) -> String? {
        try contentsOfStateFile(failurePath(identity), limit: Self.longestText)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a file of the directory: it is on disk when this returns.
    package func write(_ text: [UInt8], to path: FilePath) throws(FileError) {
        try makeStateDirectory(directory)
        let written = text.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try path.writeFile(bytes, permissions: 0o600) }
        }
        try written.get()
    }

    private func failurePath(_ identity: FileIdentity) -> FilePath {
        FilePath(bytes: record(of: identity).bytes + Array(".failure".utf8))
    }

    /// An upper limit for the length of a record or a note, in bytes: room for two paths and a
    /// sentence with each byte encoded in three.
    package static let longestText = 1 << 16
}

/// The file name of a record in the journal: inode and device, each in 16 hexadecimal digits.
package struct RecordName: Sendable, Hashable {
    package let identity: FileIdentity

    package init(_ identity: FileIdentity) { self.identity = identity }

    /// Parses a file name; nil if it is not that of a record.
    package init?(_ name: some Collection<UInt8>) {
        let parts = name.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 16 }),
            let inode = UInt64(String(decoding: parts[0], as: UTF8.self), radix: 16),
            let device = UInt64(String(decoding: parts[1], as: UTF8.self), radix: 16)
        else { return nil }
        identity = FileIdentity(device: device, inode: inode)
        guard text.utf8.elementsEqual(name) else { return nil }
    }

    private var text: String { "\(padded(identity.inode))-\(padded(identity.device))" }

    /// The name as a path relative to the journal's directory.
    package var path: FilePath { FilePath(text) }

    /// The 64-bit FNV-1a hash of the name. A collision is rare, and makes two records share one lock.
    package var hash: UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
    }
}

private func padded(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
