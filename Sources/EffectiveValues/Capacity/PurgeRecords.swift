import CLinux
import JSONReading
import ResourceValues
import SystemCalls
import SystemPackage

/// The files that hold a ``PurgeRecord`` for each volume: `resval/purge/volume-DEVICE.json` in the
/// user's directory of state, with the device number in hexadecimal.
public struct PurgeRecords: Sendable, Hashable {
    /// The directory of the files; it need not exist.
    public let directory: FilePath

    /// The records in a directory of state, such as `~/.local/state`.
    public init(stateHome: FilePath) {
        directory = stateHome.appending("resval").appending("purge")
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
        try makeDirectories(directory)
        try record.line.withUnsafeBufferPointer { bytes throws(FileError) in
            try writeFile(
                UnsafeRawBufferPointer(bytes), to: path(forDevice: record.device))
        }
    }

    /// A volume's record, whatever its age.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: `FileError`: `malformedValue` for what ``write(_:)`` does not write,
    ///   `permissionDenied` for the file of another user, and those of
    ///   reading.
    public func record(forDevice device: UInt64) throws(FileError) -> PurgeRecord? {
        let path = path(forDevice: device)
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try contents(of: path)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw .opening(error, path)
        }
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

    private func contents(of path: FilePath) throws(Errno) -> [UInt8] {
        let file = OwnedDescriptor(
            try openFile(
                in: FileDescriptor(rawValue: AT_FDCWD), path,
                flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY))
        let status = try file.descriptor.status()
        guard status.kind == .regularFile else { throw .invalidArgument }
        guard status.owner == effectiveUser() else { throw .permissionDenied }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer { buffer.deallocate() }
        let count = try readFile(file.descriptor, into: buffer)
        guard count < buffer.count else { throw .fileTooLarge }
        return Array(buffer[..<count])
    }
}
