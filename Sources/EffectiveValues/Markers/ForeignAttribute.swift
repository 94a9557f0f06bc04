import ResourceValues
import SystemCalls
import SystemPackage

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

    /// Whether the item has one of Apple's attributes, whatever its value.
    ///
    /// - Parameters:
    ///   - names: the names of the item's attributes; nil when they could not be listed.
    ///   - location: the item.
    /// - Throws: the errno of reading an attribute.
    static func isAppleExclusion(
        among names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool {
        if let names { return apple.contains { names.contains($0.bytes) } }
        for attribute in apple where try value(of: attribute, at: location) != nil { return true }
        return false
    }

    /// Returns the value of the XDG attribute; nil when it is missing or neither `true` nor
    /// `false`.
    ///
    /// - Throws: the errno of reading the attribute.
    static func xdgValue(
        among names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool? {
        if let names, !names.contains(xdg.bytes) { return nil }
        guard var bytes = try value(of: xdg, at: location) else { return nil }
        // A value written by hand or by a C program may end with a newline or a NUL.
        if bytes.last == UInt8(ascii: "\n") || bytes.last == 0 { bytes.removeLast() }
        if bytes.elementsEqual("true".utf8) { return true }
        if bytes.elementsEqual("false".utf8) { return false }
        return nil
    }

    private static func value(
        of attribute: ExtendedAttributeName, at location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> [UInt8]? {
        do throws(FileError) {
            return try location.extendedAttribute(named: attribute)
        } catch  where error.code == .noSuchFile || error.code == .unsupportedFilesystem {
            return nil
        } catch {
            throw error.errno ?? .ioError
        }
    }
}
