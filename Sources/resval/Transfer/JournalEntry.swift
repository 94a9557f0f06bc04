import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// One change recorded in a journal: a mark written on an item that did not have it.
struct JournalEntry: Sendable, Hashable {
    /// The item's absolute path at the time of the change.
    let path: FilePath
    /// The identity by which the item is recognized.
    let identity: PersistentIdentity
    /// The mark that was written.
    let mark: WrittenMark

    /// Creates an entry.
    init(path: FilePath, identity: PersistentIdentity, mark: WrittenMark) {
        self.path = path
        self.identity = identity
        self.mark = mark
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
        line.add("mark", mark.marker.rawValue)
        line.add("old", String?.none)
        line.add("new", "newBase64", mark.value)
        return line.ended()
    }

    /// Parses a line without its newline.
    ///
    /// - Throws: `JSONError` for anything that ``line`` does not write.
    init(line: ArraySlice<UInt8>) throws(JSONError) {
        var fields = ByteFields()
        var newValue = ByteFields(name: "new", base64Name: "newBase64")
        var filesystem = ByteFields(name: "filesystem", base64Name: "filesystemBase64")
        var (device, inode): (UInt64?, UInt64?)
        var (seconds, nanoseconds): (Int64?, UInt32?)
        var marker: Marker?
        var scanner = JSONScanner(line, hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try fields.read(name, &scanner) { return }
            if try newValue.read(name, &scanner) { return }
            if try filesystem.read(name, &scanner) { return }
            switch name {
            case "device": device = try scanner.unsigned()
            case "inode": inode = try scanner.unsigned()
            case "born": seconds = try scanner.integer()
            case "bornNanoseconds": nanoseconds = UInt32(exactly: try scanner.integer())
            case "mark": marker = Marker(rawValue: try scanner.text())
            case "old": guard try scanner.takesNull() else { throw JSONError(offset: 0) }
            default: throw JSONError(offset: 0)
            }
        }
        guard let path = fields.bytes, path.first == UInt8(ascii: "/"),
            !path.contains(0), let inode, let marker, let value = newValue.bytes,
            let mark = WrittenMark(marker, value: value),
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
            mark: mark)
    }
}

/// Undoes single changes of a journal.
struct JournalUndo: Sendable {
    /// The result of undoing one change.
    enum Result: Sendable, Hashable {
        /// The mark was removed, or would be in a dry run.
        case undone
        /// The item does not have the mark: the change was never made or is already undone.
        case nothingThere
        /// The item has the mark with another value.
        case otherValue
        /// The path leads to another item.
        case otherItem

        /// Why the mark was left in place, in words; nil if the item does not have it.
        var complaint: String? {
            switch self {
            case .undone, .nothingThere: nil
            case .otherValue: "left as it is: the mark was changed since"
            case .otherItem: "left as it is: another item is at this path now"
            }
        }
    }

    private let isDryRun: Bool
    private let filesystems = MountedFilesystems()

    /// Creates an undo operation; a dry run removes nothing.
    init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// Removes the entry's mark if the item and the mark's value are still those recorded.
    ///
    /// - Throws: ``FileError``: `noSuchFile` when the path does not exist; the errors of opening the
    ///   item and of reading and removing the mark.
    func undo(_ entry: JournalEntry) throws(FileError) -> Result {
        let item = try OpenedItem(
            entry.path.withoutFollowing, shownPath: entry.path.bytes, path: entry.path)
        guard filesystems.isIdentity(entry.identity, of: item.status) else { return .otherItem }
        switch try entry.mark.storedValue(on: item.location) {
        case nil: return .nothingThere
        case entry.mark.value?: break
        default: return .otherValue
        }
        if !isDryRun { try entry.mark.remove(from: item.location) }
        return .undone
    }
}
