#if !canImport(Darwin)
import Foundation

// Properties: values that are stored on the item.

extension URLResourceValues {
    /// Whether backups exclude the item: the extended attribute `user.resval.isExcludedFromBackup`.
    ///
    /// `false` also when unset, as on Apple's systems; nil for a symbolic link, which stores no marks.
    /// `FilePath.value(for:)` and `resval get` tell unset from `false`: an unset value leaves it to the
    /// directories above and to other programs' marks whether the item is excluded, and a stored
    /// `false` includes it. Storing a whole ``URLResourceValues`` that was read keeps that difference;
    /// a `false` that is assigned by itself is stored.
    public var isExcludedFromBackup: Bool? {
        get { boolean(.isExcludedFromBackup) }
        set { assign(newValue.map { .boolean($0) }, to: .isExcludedFromBackup) }
    }

    /// Whether the item may be deleted when space is short: the extended attribute
    /// `user.resval.isPurgeable`.
    ///
    /// nil when unset. Can be set here, unlike on Apple's systems.
    public var isPurgeable: Bool? {
        get { boolean(.isPurgeable) }
        set { assign(newValue.map { .boolean($0) }, to: .isPurgeable) }
    }

    /// The protection class: the extended attribute `user.resval.fileProtection`.
    ///
    /// nil when unset. Can be set here, unlike on Apple's systems. It is a declaration that tools
    /// honour: nothing prevents a program from reading the file.
    public var fileProtection: URLFileProtection? {
        get { object(.fileProtection) }
        set { assign(newValue.map { .object($0) }, to: .fileProtection) }
    }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isExcludedFromBackup``.
    public static let isExcludedFromBackupKey = URLResourceKey(.isExcludedFromBackup)
    /// The key of ``URLResourceValues/isPurgeable``.
    public static let isPurgeableKey = URLResourceKey(.isPurgeable)
    /// The key of ``URLResourceValues/fileProtection``.
    public static let fileProtectionKey = URLResourceKey(.fileProtection)
}
#endif
