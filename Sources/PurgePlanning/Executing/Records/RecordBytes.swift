import SystemCalls

/// Writes the parts of records one behind the other: numbers in 8 bytes, the lowest first, and texts
/// behind their lengths.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func add(_ text: [UInt8]) {
        add(UInt64(text.count))
        bytes += text
    }

    mutating func add(_ identity: FileIdentity) {
        add(identity.device)
        add(identity.inode)
    }

    mutating func add(_ record: AsideRecord) {
        add(record.state.rawValue)
        add(record.identity)
        add(record.parent)
        add(record.parentPath)
        add(record.name)
        add(record.asideName)
        add(UInt64(bitPattern: record.newestChange.seconds))
        add(UInt64(record.newestChange.nanoseconds))
        add(record.directories)
    }

    /// A number that says whether there are any stands before them and their count.
    private mutating func add(_ inodes: Set<UInt64>?) {
        add(inodes == nil ? 0 : 1)
        guard let inodes else { return }
        add(UInt64(inodes.count))
        for inode in inodes { add(inode) }
    }
}

/// Reads what a ``RecordWriter`` wrote. Every part is nil where the bytes end or make no sense.
struct RecordReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        let number = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        return number
    }

    mutating func text() -> [UInt8]? {
        guard let count = number(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    mutating func identity() -> FileIdentity? {
        guard let device = number(), let inode = number() else { return nil }
        return FileIdentity(device: device, inode: inode)
    }

    mutating func record() -> AsideRecord? {
        guard let state = number().flatMap({ AsideRecord.State(rawValue: $0) }),
            let identity = identity(), let parent = self.identity(), let parentPath = text(),
            let name = text(), let asideName = text(), let seconds = number(),
            let nanoseconds = number(), nanoseconds < 1_000_000_000, let directories = inodes()
        else { return nil }
        return AsideRecord(
            state: state, identity: identity, parent: parent, parentPath: parentPath, name: name,
            asideName: asideName,
            newestChange: FileTime(
                seconds: Int64(bitPattern: seconds), nanoseconds: UInt32(nanoseconds)),
            directories: directories)
    }

    private mutating func inodes() -> Set<UInt64>?? {
        switch number() {
        case 0: return .some(nil)
        case 1: break
        default: return nil
        }
        guard let count = number(), count <= UInt64(rest.count / 8) else { return nil }
        var inodes: Set<UInt64> = []
        for _ in 0..<count {
            guard let inode = number() else { return nil }
            inodes.insert(inode)
        }
        return inodes
    }
}
