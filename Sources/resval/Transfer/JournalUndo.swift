import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

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
