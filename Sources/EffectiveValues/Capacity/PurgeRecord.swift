import ResourceValues
import SystemCalls
import TextFormats

/// The space that the newest purge plan for a volume would free. It counts as available for
/// important use.
package struct PurgeRecord: Sendable, Hashable {
    /// The maximum age of a record that counts, in seconds.
    package static let longestAge: Int64 = 3600

    /// When the plan was made.
    package let created: FileTime
    /// The device number of the volume's filesystem.
    package let device: UInt64
    /// The boot ID when the plan was made: device numbers are valid only within one boot.
    package let bootID: String
    /// The space the plan would free, in bytes; never negative.
    package let bytes: Int64

    /// Creates a record.
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
    package init(_ json: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner(json[...], hasLostBytes: false)
        var created: FileTime?
        var device: UInt64?
        var bootID: String?
        var bytes: Int64?
        var names: [String] = []
        try scanner.forEachField { scanner, name throws(JSONError) in
            names.append(name)
            switch name {
            case "created": created = FileTime(rfc3339: try scanner.string())
            case "device": device = try scanner.unsigned()
            case "bootID": bootID = try scanner.text()
            case "bytes": bytes = try scanner.amount()
            default: throw JSONError(offset: 0)
            }
        }
        guard names.count == 4, let created, let device,
            let bootID, !bootID.isEmpty, let bytes
        else { throw JSONError(offset: json.count) }
        self.init(created: created, device: device, bootID: bootID, bytes: bytes)
    }
}
