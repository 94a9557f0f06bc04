import SystemCalls

/// Units that are stored together, in few bytes each: those that were found one after the other in the
/// same directory share its path.
final class UnitBatch: Sendable {
    /// The most units in a batch.
    static let limit = 256

    /// The units, in the order in which they were found.
    let records: [UnitRecord]
    fileprivate let directories: [UnitDirectory]
    /// The paths of the directories and the names of the units.
    private let text: [UInt8]

    fileprivate init(_ records: [UnitRecord], _ directories: [UnitDirectory], _ text: [UInt8]) {
        self.records = records
        self.directories = directories
        self.text = text
    }

    /// The device of a unit.
    func device(of index: Int) -> UInt64 { directories[Int(records[index].directory)].device }

    /// The number of components of a unit's path.
    func depth(of index: Int) -> Int { directories[Int(records[index].directory)].depth }

    /// Appends the bytes of a unit's path.
    func appendPath(of index: Int, to bytes: inout [UInt8]) {
        bytes += text[directories[Int(records[index].directory)].path]
        bytes += text[records[index].name]
    }

    /// Returns the order of the paths of two units, as `memcmp(3)` does. Both are equally deep; the other
    /// one may be of another batch.
    func order(_ index: Int, _ otherIndex: Int, of other: UnitBatch) -> Int {
        let (record, otherRecord) = (records[index], other.records[otherIndex])
        let directory = directories[Int(record.directory)].path
        let otherDirectory = other.directories[Int(otherRecord.directory)].path
        return text.withUnsafeBytes { text in
            other.text.withUnsafeBytes { otherText in
                func order(_ range: Range<Int>, _ otherRange: Range<Int>) -> Int {
                    UnsafeRawBufferPointer(rebasing: text[range]).order(
                        to: UnsafeRawBufferPointer(rebasing: otherText[otherRange]))
                }
                // Both end with a slash: as they are equally deep, neither begins with the other.
                let isSame = self === other && record.directory == otherRecord.directory
                let first = isSame ? 0 : order(directory, otherDirectory)
                return first == 0 ? order(record.name, otherRecord.name) : first
            }
        }
    }
}

/// A directory that units of a batch lie in.
private struct UnitDirectory: Sendable {
    /// Its path with a trailing slash, in the batch's text.
    let path: Range<Int>
    /// The number of slashes in it, which is the number of components of the paths of its entries.
    let depth: Int
    /// The device of the units in it.
    let device: UInt64
}

/// A unit in a batch, without its path and its device.
struct UnitRecord: Sendable {
    let inode: UInt64
    let bytes: Int64
    let certainBytes: Int64
    private let items: Int64
    private let size: Int64
    // Apart, because a FileTime takes 16 bytes.
    private let seconds: (lastUse: Int64, content: Int64, attributes: Int64, newest: Int64)
    private let nanoseconds: (lastUse: UInt32, content: UInt32, attributes: UInt32, newest: UInt32)
    private var nameStart: UInt32 = 0
    private var nameLength: UInt32 = 0
    fileprivate var directory: UInt16 = 0
    let purgeClass: PurgeClass
    let isDirectory: Bool

    init(
        _ purgeClass: PurgeClass, isDirectory: Bool, inode: UInt64, lastUse: FileTime,
        freed: FreedBytes, itemCount: Int, pin: PurgePin
    ) {
        self.inode = inode
        bytes = freed.atMost
        certainBytes = freed.atLeast
        items = Int64(itemCount)
        size = pin.size
        let (content, attributes) = (pin.contentModificationTime, pin.attributeModificationTime)
        seconds = (
            lastUse.seconds, content.seconds, attributes.seconds, pin.newestChange.seconds
        )
        nanoseconds = (
            lastUse.nanoseconds, content.nanoseconds, attributes.nanoseconds,
            pin.newestChange.nanoseconds
        )
        self.purgeClass = purgeClass
        self.isDirectory = isDirectory
    }

    var itemCount: Int { Int(items) }

    /// The unit's part of the order of deletion that needs no path.
    var bound: UnitBound { UnitBound(purgeClass, bytes, lastUse) }

    var lastUse: FileTime {
        FileTime(seconds: seconds.lastUse, nanoseconds: nanoseconds.lastUse)
    }

    var pin: PurgePin {
        PurgePin(
            size: size,
            contentModificationTime: FileTime(
                seconds: seconds.content, nanoseconds: nanoseconds.content),
            attributeModificationTime: FileTime(
                seconds: seconds.attributes, nanoseconds: nanoseconds.attributes),
            newestChange: FileTime(seconds: seconds.newest, nanoseconds: nanoseconds.newest))
    }

    /// The last component of the path, in the batch's text.
    fileprivate var name: Range<Int> {
        get { Int(nameStart)..<Int(nameStart) + Int(nameLength) }
        set {
            nameStart = UInt32(newValue.lowerBound)
            nameLength = UInt32(newValue.count)
        }
    }
}

/// Collects the units of a batch.
struct UnitBatchWriter: Sendable {
    private var records: [UnitRecord] = []
    private var directories: [UnitDirectory] = []
    private var text: [UInt8] = []

    /// The number of units.
    var count: Int { records.count }

    /// Adds a unit.
    ///
    /// - Parameter appendPath: appends the bytes of its path.
    mutating func append(
        _ record: UnitRecord, on device: UInt64, _ appendPath: (inout [UInt8]) -> Void
    ) {
        let start = text.count
        appendPath(&text)
        let slash = text[start...].lastIndex(of: UInt8(ascii: "/"))
        let nameStart = slash.map { $0 + 1 } ?? start
        var record = record
        if directories.last?.device == device, isLastDirectory(start..<nameStart) {
            text.removeSubrange(start..<nameStart)
            record.name = start..<text.count
        } else {
            let directory = start..<nameStart
            let depth = text[directory].count { $0 == UInt8(ascii: "/") }
            directories.append(UnitDirectory(path: directory, depth: depth, device: device))
            record.name = nameStart..<text.count
        }
        record.directory = UInt16(directories.count - 1)
        records.append(record)
    }

    private func isLastDirectory(_ range: Range<Int>) -> Bool {
        guard let last = directories.last?.path, last.count == range.count else { return false }
        return text.withUnsafeBytes { text in
            UnsafeRawBufferPointer(rebasing: text[last])
                .hasSameBytes(as: UnsafeRawBufferPointer(rebasing: text[range]))
        }
    }

    /// Returns the batch, and begins another one.
    mutating func finish() -> UnitBatch {
        // Copies take no more memory than is used.
        defer {
            records.removeAll(keepingCapacity: true)
            directories.removeAll(keepingCapacity: true)
            text.removeAll(keepingCapacity: true)
        }
        return UnitBatch(
            records.map { $0 }, directories.map { $0 }, text.withUnsafeBytes { Array($0) })
    }
}
