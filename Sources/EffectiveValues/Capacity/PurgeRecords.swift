import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The files that store a ``PurgeRecord`` for each volume: `resval/purge/volume-DEVICE.json` in the
/// user's state directory, with the device number in hexadecimal.
package struct PurgeRecords: Sendable, Hashable {
    /// The directory of the files, which need not exist.
    package let directory: FilePath

    /// Creates the records in a state directory such as `~/.local/state`.
    package init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("purge")
    }

    /// The records of the user this process runs as; nil when the home is unknown.
    package static var current: PurgeRecords? {
        stateHome().map { PurgeRecords(stateHome: $0) }
    }

    /// Returns the path of a volume's file.
    package func path(forDevice device: UInt64) -> FilePath {
        directory.appending("volume-\(String(device, radix: 16)).json")
    }

    /// Replaces a volume's record. Concurrent readers see the old record or the new one.
    ///
    /// - Throws: `FileError` when the directory or the file cannot be created.
    package func write(_ record: PurgeRecord) throws(FileError) {
        try makeStateDirectory(directory)
        try record.line.withUnsafeBufferPointer { bytes throws(FileError) in
            try path(forDevice: record.device)
                .writeFile(UnsafeRawBufferPointer(bytes), permissions: 0o600)
        }
    }

    /// Returns a volume's record, whatever its age.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `FileError`: `malformedValue` when the file is not in the format of ``write(_:)``,
    ///   `permissionDenied` when it belongs to another user or others can write it, and the errors
    ///   of reading it.
    package func record(forDevice device: UInt64) throws(FileError) -> PurgeRecord? {
        let path = path(forDevice: device)
        guard let bytes = try contentsOfStateFile(path, limit: 4095) else { return nil }
        do throws(JSONError) {
            return try PurgeRecord(bytes)
        } catch {
            throw FileError(
                code: .malformedValue, message: "is not a record of a purge plan",
                advice: "remove it", path: path)
        }
    }

    /// Returns the space that a purge of a volume would free, in bytes, according to its newest
    /// plan.
    ///
    /// - Returns: 0 when no plan is recorded, or the record does not count now; see
    ///   ``PurgeRecord/bytes(onDevice:bootID:now:)``.
    /// - Throws: as ``record(forDevice:)``; `FileError` when the boot ID cannot be read.
    package func purgeableBytes(
        onDevice device: UInt64, now: FileTime
    ) throws(FileError) -> Int64 {
        guard let record = try record(forDevice: device) else { return 0 }
        return record.bytes(onDevice: device, bootID: try bootIdentifier(), now: now)
    }
}
