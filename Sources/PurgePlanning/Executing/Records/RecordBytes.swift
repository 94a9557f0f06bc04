import EffectiveValues
import SystemCalls

/// Encodes records: integers as 8 bytes in little-endian order, and byte strings after their
/// length.
struct JournalWriter {
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

    mutating func add(_ identity: PersistentIdentity) {
        switch identity.filesystem {
        case .device(let device):
            add(0)
            add(device)
        case .named(let name):
            add(1)
            add(name)
        }
        add(identity.inode)
        add(identity.creationTime == nil ? 0 : 1)
        if let time = identity.creationTime { add(time) }
    }

    mutating func add(_ time: FileTime) {
        add(UInt64(bitPattern: time.seconds))
        add(UInt64(time.nanoseconds))
    }

    mutating func add(_ record: AsideRecord) {
        add(record.state.rawValue)
        add(record.identity)
        add(record.parent)
        add(record.parentPath)
        add(record.name)
        add(record.asideName)
        add(record.newestChange)
        add(record.knownInodes)
    }

    /// Inodes follow a flag, 0 for nil and 1 otherwise, and their count.
    private mutating func add(_ inodes: Set<UInt64>?) {
        add(inodes == nil ? 0 : 1)
        guard let inodes else { return }
        add(UInt64(inodes.count))
        for inode in inodes { add(inode) }
    }
}

/// Decodes what a ``JournalWriter`` encoded. Every part is nil when the bytes end early or are
/// invalid.
struct JournalReader {
    private var rest: ArraySlice<UInt8>
    private let version: JournalVersion

    init(_ bytes: ArraySlice<UInt8>, _ version: JournalVersion = .current) {
        rest = bytes
        self.version = version
    }

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

    mutating func identity() -> PersistentIdentity? {
        guard version != .first else {
            guard let device = number(), let inode = number() else { return nil }
            return PersistentIdentity(FileIdentity(device: device, inode: inode))
        }
        guard let filesystem = filesystem(), let inode = number(), let hasTime = number() else {
            return nil
        }
        guard hasTime == 1 else {
            guard hasTime == 0 else { return nil }
            return PersistentIdentity(filesystem: filesystem, inode: inode, creationTime: nil)
        }
        guard let time = time() else { return nil }
        return PersistentIdentity(filesystem: filesystem, inode: inode, creationTime: time)
    }

    private mutating func filesystem() -> PersistentIdentity.Filesystem? {
        switch number() {
        case 0: number().map { .device($0) }
        case 1: text().map { .named($0) }
        default: nil
        }
    }

    mutating func time() -> FileTime? {
        guard let seconds = number(), let nanoseconds = number(), nanoseconds < 1_000_000_000
        else { return nil }
        return FileTime(seconds: Int64(bitPattern: seconds), nanoseconds: UInt32(nanoseconds))
    }

    mutating func record() -> AsideRecord? {
        guard let state = number().flatMap({ AsideRecord.State(rawValue: $0) }),
            let identity = identity(), let parent = self.identity(), let parentPath = text(),
            let name = text(), let asideName = text(), let newestChange = time(),
            let knownInodes = inodes(),
            parentPath.isEmpty || RelativePath(absolute: parentPath) != nil,
            RelativePath(name)?.names.count == 1, RelativePath(asideName)?.names.count == 1,
            AsideName.matches(asideName)
        else { return nil }
        return AsideRecord(
            state: state, identity: identity, parent: parent, parentPath: parentPath, name: name,
            asideName: asideName,
            newestChange: newestChange, knownInodes: knownInodes)
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
