import ResourceValues

/// Advice about changes that may not have the intended effect.
struct ChangeAdvice {
    /// Whether any change stores a value rather than removing it.
    let storesValues: Bool
    /// Whether any change stores a value whose loss does harm: a protection class or
    /// `isPurgeable=false`. Programs that save by replacing the file lose its marks.
    let storesFragileValue: Bool
    /// Whether any change stores `isExcludedFromBackup=false`.
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

    /// The advice for files with several hard links.
    let hardLink =
        "they share their marks (to exclude such a file from backups, mark its directory)"

    /// The advice for marks that are lost when a file is replaced.
    let fragile =
        "programs that save by writing a new file drop this mark (mark the directory instead)"
}
