import ResourceValues
import SystemCalls
import SystemPackage

/// The space that the newest purge plan for a volume would free. It counts as available for
/// important use.
package struct PurgeRecord: Sendable, Hashable {
    /// The maximum age of a record that counts, in seconds.
    package static let longestAge: Int64 = 3600

    package let created: FileTime
    package let device: UInt64
    /// The boot ID when the plan was made: device numbers are valid only within one boot.
    package let bootID: String
    /// The space the plan would free, in bytes; never negative.
    package let bytes: Int64

    package init(created: FileTime, device: UInt64, bootID: String, bytes: Int64) {
        self.created = created
        self.device = device
        self.bootID = bootID
        self.bytes = max(0, bytes)
    }

    /// Returns the bytes that may be counted on now: 0 when the record is for another volume or
    /// boot, is older than ``longestAge``, or was created in the future.
    package func bytes(onDevice device: UInt64, bootID: String, now: FileTime) -> Int64 {
        let oldest = FileTime(
            seconds: now.seconds.subtractingSaturating(Self.longestAge),
            nanoseconds: now.nanoseconds)
        guard self.device == device, self.bootID == bootID, created >= oldest, created <= now
        else { return 0 }
        return bytes
    }

    /// The record as one line of JSON: `created`, `device`, `bootID` and `bytes`.
    package var line: [UInt8] {
        var line = JSONLine()
        line.add("created", created)
        line.add("device", device)
        line.add("bootID", bootID)
        line.add("bytes", bytes)
        return line.ended()
    }

    /// Parses the format of ``line``: all four fields, each once, and nothing else.
    package init?(_ json: [UInt8]) {
        guard var fields = try? JSONFields(json[...]),
            let created = fields.time("created"),
            let device: UInt64 = fields.number("device"),
            let bootID = fields.text("bootID"), !bootID.isEmpty,
            let bytes: Int64 = fields.number("bytes"), bytes >= 0, fields.isEmpty
        else { return nil }
        self.init(created: created, device: device, bootID: bootID, bytes: bytes)
    }
}

/// The files that store a ``PurgeRecord`` for each volume: `resval/purge/volume-DEVICE.json` in the
/// user's state directory, with the device number in hexadecimal.
package struct PurgeRecords: Sendable, Hashable {
    package let directory: FilePath

    package init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("purge")
    }

    /// The records of the user this process runs as; nil when the home is unknown.
    package static var current: PurgeRecords? {
        stateHome().map { PurgeRecords(stateHome: $0) }
    }

    package func path(forDevice device: UInt64) -> FilePath {
        directory.appending("volume-\(String(device, radix: 16)).json")
    }

    /// Replaces a volume's record. Concurrent readers see the old record or the new one.
    package func write(_ record: PurgeRecord) throws(FileError) {
        try makeStateDirectory(directory)
        try path(forDevice: record.device).writePrivateFile(record.line)
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
        guard let record = PurgeRecord(bytes) else {
            throw FileError(
                code: .malformedValue, message: "is not a record of a purge plan",
                advice: "remove it", path: path)
        }
        return record
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
