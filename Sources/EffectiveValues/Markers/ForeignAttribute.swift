import ResourceValues
import SystemCalls
import SystemPackage

/// The extended attributes by which other programs say whether an item is backed up.
public enum ForeignAttribute {
    /// Apple's exclusion as rsync and netatalk store it, as Samba's streams_xattr does with the
    /// colon and with what stands for it in file names (U+F022), and without the prefix that some
    /// filesystems leave away.
    public static let apple: [ExtendedAttributeName] = [
        "user.com.apple.metadata:com_apple_backup_excludeItem",
        "user.DosStream.com.apple.metadata:com_apple_backup_excludeItem:$DATA",
        "user.DosStream.com.apple.metadata\u{F022}com_apple_backup_excludeItem:$DATA",
        "com.apple.metadata:com_apple_backup_excludeItem",
    ]

    /// The attribute that robots making backups shall obey: `true` to include, `false` to exclude.
    public static let xdg: ExtendedAttributeName = "user.xdg.robots.backup"

    /// Whether one of Apple's attributes is there, whatever its value.
    ///
    /// - Parameters:
    ///   - names: the names of the item's attributes; nil when they could not be listed.
    ///   - location: the item.
    /// - Throws: the errno of reading what may be there.
    static func isAppleExclusion(
        among names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool {
        if let names { return apple.contains { names.contains($0.bytes) } }
        for attribute in apple where try value(of: attribute, at: location) != nil { return true }
        return false
    }

    /// What the xdg attribute says; nil when it is not there or says neither.
    ///
    /// - Throws: the errno of reading what is there.
    static func xdgValue(
        among names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool? {
        if let names, !names.contains(xdg.bytes) { return nil }
        guard var bytes = try value(of: xdg, at: location) else { return nil }
        // Written by hand and by C programs it may end with a newline or a NUL.
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
