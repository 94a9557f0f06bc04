import SystemCalls

/// The extended attributes by which other programs include or exclude an item from backups.
package enum ForeignAttribute {
    /// Apple's exclusion attribute: as rsync and netatalk store it; as Samba's `streams_xattr`
    /// stores it, both with the colon and with U+F022, which replaces the colon in file names; and
    /// without the `user.` prefix, which some filesystems omit.
    package static let apple: [ExtendedAttributeName] = [
        "user.com.apple.metadata:com_apple_backup_excludeItem",
        "user.DosStream.com.apple.metadata:com_apple_backup_excludeItem:$DATA",
        "user.DosStream.com.apple.metadata\u{F022}com_apple_backup_excludeItem:$DATA",
        "com.apple.metadata:com_apple_backup_excludeItem",
    ]

    /// The XDG attribute for backup programs: `true` to include an item, `false` to exclude it.
    package static let xdg: ExtendedAttributeName = "user.xdg.robots.backup"

    /// Duplicati's attribute, which excludes an item by its presence, whatever the value.
    package static let duplicati: ExtendedAttributeName = "user.duplicati.exclude"

    /// Duplicacy's attribute on Linux, which excludes an item by its presence, whatever the value.
    package static let duplicacy: ExtendedAttributeName = "user.duplicacy_exclude"

    static let all = Set(apple + [xdg, duplicati, duplicacy])
}
