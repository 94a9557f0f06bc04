import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One change recorded in a journal.
struct JournalEntry: Sendable, Hashable {
    /// The item's absolute path at the time of the change.
    let path: FilePath
    /// The identity by which the item is recognized.
    let identity: PersistentIdentity
    /// The change.
    let change: RecordedChange

    /// Creates an entry.
    init(path: FilePath, identity: PersistentIdentity, change: RecordedChange) {
        self.path = path
        self.identity = identity
        self.change = change
    }

    /// The entry as one line of JSON, including the newline.
    var line: [UInt8] {
        var line = JSONLine()
        line.add(path: path.bytes)
        switch identity.filesystem {
        case .device(let device): line.add("device", device)
        case .named(let name): line.add("filesystem", "filesystemBase64", name)
        }
        line.add("inode", identity.inode)
        if let time = identity.creationTime {
            line.add("born", time.seconds)
            line.add("bornNanoseconds", time.nanoseconds)
        }
        line.add("mark", change.name)
        line.add("old", "oldBase64", change.old)
        line.add("new", "newBase64", change.new)
        return line.ended()
    }

    /// Parses a line without its newline.
    ///
    /// - Throws: `JSONError` for anything that ``line`` does not write.
    init(line: ArraySlice<UInt8>) throws(JSONError) {
        var fields = ByteFields()
        var oldValue = ByteFields(name: "old", base64Name: "oldBase64")
        var newValue = ByteFields(name: "new", base64Name: "newBase64")
        var filesystem = ByteFields(name: "filesystem", base64Name: "filesystemBase64")
        var (device, inode): (UInt64?, UInt64?)
        var (seconds, nanoseconds): (Int64?, UInt32?)
        var mark: String?
        var scanner = JSONScanner(line, hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try fields.read(name, &scanner) { return }
            if try oldValue.read(name, &scanner) { return }
            if try newValue.read(name, &scanner) { return }
            if try filesystem.read(name, &scanner) { return }
            switch name {
            case "device": device = try scanner.unsigned()
            case "inode": inode = try scanner.unsigned()
            case "born": seconds = try scanner.integer()
            case "bornNanoseconds": nanoseconds = UInt32(exactly: try scanner.integer())
            case "mark": mark = try scanner.text()
            default: throw JSONError(offset: 0)
            }
        }
        guard let path = fields.bytes, path.first == UInt8(ascii: "/"),
            !path.contains(0), let inode, let mark,
            let change = RecordedChange(mark, old: oldValue.bytes, new: newValue.bytes),
            (device == nil) != (filesystem.bytes == nil), (seconds == nil) == (nanoseconds == nil),
            nanoseconds ?? 0 < 1_000_000_000
        else { throw JSONError(offset: 0) }
        var born: FileTime?
        if let seconds, let nanoseconds {
            born = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        }
        self.init(
            path: FilePath(bytes: path),
            identity: PersistentIdentity(
                filesystem: filesystem.bytes.map { .named($0) } ?? .device(device ?? 0),
                inode: inode, creationTime: born),
            change: change)
    }
}

/// Undoes single changes of a journal.
struct JournalUndo: Sendable {
    /// The result of undoing one change.
    enum Result: Sendable, Hashable {
        /// The value before the change was put back, or would be in a dry run.
        case undone
        /// The item has the value from before: the change was never made or is already undone.
        case nothingThere
        /// The item has the mark with another value.
        case otherValue
        /// The path leads to another item.
        case otherItem

        /// Why the change is not undone, in words; nil if it is as before the change.
        var complaint: String? {
            switch self {
            case .undone, .nothingThere: nil
            case .otherValue: "not undone: the mark has changed since"
            case .otherItem: "not undone: another item is now at this path"
            }
        }
    }

    private let isDryRun: Bool
    private let filesystems = MountedFilesystems()

    /// Creates an undo operation; a dry run changes nothing.
    init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// Undoes the entry's change if the item and the value are still those recorded.
    ///
    /// - Throws: ``FileError``: `noSuchFile` when the path does not exist; the errors of opening the
    ///   item and of reading and storing the mark.
    func undo(_ entry: JournalEntry) throws(FileError) -> Result {
        let item = try open(entry.path)
        guard filesystems.isIdentity(entry.identity, of: item.status) else { return .otherItem }
        let present = try entry.change.present(on: item.location)
        if present == entry.change.old { return .nothingThere }
        guard present == entry.change.new else { return .otherValue }
        if !isDryRun { try entry.change.undo(on: item.location) }
        return .undone
    }

    /// Opens the item at a path, or the target of a link through which the item was changed: its
    /// identity tells whether it is that item.
    private func open(_ path: FilePath) throws(FileError) -> OpenedItem {
        let item = try OpenedItem(path.withoutFollowing, shownPath: path.bytes, path: path)
        guard item.status.kind == .symbolicLink else { return item }
        return try OpenedItem(path, shownPath: path.bytes, path: path)
    }
}
