import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Takes one change of a journal back.
package struct JournalUndo: Sendable {
    /// What became of a change.
    package enum Result: Sendable, Hashable {
        /// The mark was removed, or would be.
        case undone
        /// There is no mark: the change was not made, or is undone already.
        case nothingThere
        /// Another value is stored now.
        case otherValue
        /// Another item has the path now.
        case otherItem

        /// Why the mark stays, in words; nil where it is gone.
        package var complaint: String? {
            switch self {
            case .undone, .nothingThere: nil
            case .otherValue: "left as it is: the mark was changed since"
            case .otherItem: "left as it is: another item is at this path now"
            }
        }
    }

    private let isDryRun: Bool
    private let filesystems = MountedFilesystems()

    /// Creates the means of undoing, or of saying what would be undone.
    package init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// Removes the mark if it is still the one that was written, from the same item.
    ///
    /// - Throws: ``FileError``: `noSuchFile` when nothing is at the path, and those of opening,
    ///   reading and removing.
    package func undo(_ entry: JournalEntry) throws(FileError) -> Result {
        let item = try HeldItem(
            entry.path.withoutFollowing, shownPath: entry.path.bytes, path: entry.path)
        guard filesystems.isIdentity(entry.identity, of: item.status) else { return .otherItem }
        do throws(FileError) {
            switch try entry.mark.storedValue(on: item.descriptor) {
            case nil: return .nothingThere
            case entry.mark.value?: break
            default: return .otherValue
            }
            if !isDryRun { try entry.mark.remove(from: item.descriptor) }
            return .undone
        } catch {
            var error = error
            error.path = entry.path
            throw error
        }
    }
}
