import ResourceValues

/// What is to be said of changes that were made and may yet not do what was meant.
struct ChangeAdvice {
    /// Whether anything is stored, rather than removed.
    let storesValues: Bool
    /// Whether a value is stored on files that programs drop by saving, at a cost.
    let storesFragileValue: Bool
    /// Whether items are to be backed up whatever excludes them.
    let storesInclusion: Bool

    init(_ changes: [MarkChange]) {
        storesValues = changes.contains { $0.value != nil }
        storesFragileValue = changes.contains { change in
            switch (change.key, change.value) {
            case (.fileProtection, .some), (.isPurgeable, .boolean(false)?): true
            default: false
            }
        }
        storesInclusion = changes.contains {
            $0.key == .isExcludedFromBackup && $0.value == .boolean(false)
        }
    }

    /// What marks on a file with other names mean.
    let hardLink =
        "they share their marks (to exclude such a file from backups, mark its directory)"

    /// What becomes of marks on files.
    let fragile =
        "programs that save by writing a new file drop this mark (mark the directory instead)"
}
