import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The files that hold a ``PurgeRecord`` for each volume: `resval/purge/volume-DEVICE.json` in the
/// user's directory of state, with the device number in hexadecimal.
public struct PurgeRecords: Sendable, Hashable {
    /// The directory of the files; it need not exist.
    public let directory: FilePath

    /// The records in a directory of state, such as `~/.local/state`.
    public init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("purge")
    }

    /// The records of the user this process runs as; nil when no home is known.
    public static var current: PurgeRecords? {
        stateHome().map { PurgeRecords(stateHome: $0) }
    }

    /// The path of a volume's file.
    public func path(forDevice device: UInt64) -> FilePath {
        directory.appending("volume-\(String(device, radix: 16)).json")
    }

    /// Replaces a volume's record. Whoever reads at the same time finds the old one or the new one.
    ///
    /// - Throws: `FileError` when directory or file cannot be made.
    public func write(_ record: PurgeRecord) throws(FileError) {
        try makeStateDirectory(directory)
        try record.line.withUnsafeBufferPointer { bytes throws(FileError) in
            try writeFile(
                UnsafeRawBufferPointer(bytes), to: path(forDevice: record.device),
                permissions: 0o600)
        }
    }

    /// A volume's record, whatever its age.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `FileError`: `malformedValue` for what ``write(_:)`` does not write,
    ///   `permissionDenied` for the file of another user or one that others can write, and those of
    ///   reading.
    public func record(forDevice device: UInt64) throws(FileError) -> PurgeRecord? {
        let path = path(forDevice: device)
        guard let bytes = try contentsOfStateFile(path, limit: 4095) else { return nil }
        do throws(JSONError) {
            return try PurgeRecord(bytes)
        } catch {
            throw FileError(
                code: .malformedValue, message: "is no record of a purge plan",
                advice: "remove it", path: path)
        }
    }

    /// What a purge of a volume would free, in bytes, as its newest plan tells.
    ///
    /// - Returns: 0 where no plan is recorded, or none that counts now; see
    ///   ``PurgeRecord/bytes(onDevice:bootID:now:)``.
    /// - Throws: as ``record(forDevice:)``; `FileError` when the boot's identifier cannot be read.
    public func purgeableBytes(
        onDevice device: UInt64, now: FileTime
    ) throws(FileError) -> Int64 {
        guard let record = try record(forDevice: device) else { return 0 }
        do throws(Errno) {
            return record.bytes(onDevice: device, bootID: try bootIdentifier(), now: now)
        } catch {
            throw .opening(error, "/proc/sys/kernel/random/boot_id")
        }
    }
}
