import ResourceValues
import SystemCalls
import SystemPackage

extension OpenedItem {
    /// Returns the changes needed to give the item these marks.
    ///
    /// Marks that are unset in `marks`, or already stored with the same value, need no change.
    ///
    /// - Throws: ``FileError`` when the item's present marks cannot be read.
    func changes(toHave marks: Marks) throws(FileError) -> [MarkChange] {
        let present = try location.marks()
        var changes: [MarkChange] = []
        if let value = marks.isExcludedFromBackup.value,
            present.isExcludedFromBackup != .value(value)
        {
            changes.append(MarkChange(.isExcludedFromBackup, to: value))
        }
        if let value = marks.isPurgeable.value, present.isPurgeable != .value(value) {
            changes.append(MarkChange(.isPurgeable, to: value))
        }
        if let value = marks.fileProtection.value, present.fileProtection != .value(value) {
            changes.append(MarkChange(.fileProtection, to: value))
        }
        return changes
    }

    /// Makes all changes or none, and reads the marks back.
    ///
    /// - Throws: ``FileError``; `changed` when the marks read back differ from those written.
    func apply(_ changes: [MarkChange]) throws(FileError) {
        try location.apply(changes)
        let stored = try location.marks()
        guard changes.allSatisfy({ stored[$0.key] == $0.value }) else {
            throw FileError(
                code: .changed, message: "the marks read back are not those that were stored",
                advice: "restore again", path: location.pathForMessages)
        }
    }
}
