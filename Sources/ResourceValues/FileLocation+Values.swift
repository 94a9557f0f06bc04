import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Returns the value stored for a key.
    ///
    /// - Returns: nil if the key is unset. `false` is a value.
    /// - Throws: ``FileError``: `malformedValue` if the attribute's value is not valid in the
    ///   format, `permissionDenied` or `inputOutput` if it cannot be read, `noSuchFile` and others
    ///   if the file cannot be reached.
    @inlinable
    public func value<Value>(for key: StoredKey<Value>) throws(FileError) -> Value? {
        let mark = try mark(for: key)
        if let error = mark.error(for: key, path: mark.isBroken ? pathForMessages : nil) {
            throw error
        }
        return mark.value
    }

    /// Stores a value for a key, without reading or writing any other key.
    ///
    /// - Throws: ``FileError``, as ``setExtendedAttribute(named:to:if:)``. Nothing is stored then.
    public func setValue<Value>(_ value: Value, for key: StoredKey<Value>) throws(FileError) {
        try setExtendedAttribute(named: key.attribute, to: Array(value.attributeText.utf8))
    }

    /// Removes the value for a key, so that it is unset.
    ///
    /// - Returns: whether it was set before.
    /// - Throws: ``FileError``, as ``setExtendedAttribute(named:to:if:)``.
    @discardableResult
    public func removeValue<Value>(for key: StoredKey<Value>) throws(FileError) -> Bool {
        try removeExtendedAttribute(named: key.attribute)
    }
}

extension FileError {
    /// Returns the error for an attribute whose value is not valid in the format.
    public static func malformedValue<Value>(
        _ prefix: [UInt8], length: Int, of key: StoredKey<Value>, path: FilePath?
    ) -> FileError {
        let size = length > prefix.count ? " (\(length) bytes)" : ""
        let valid = Value.attributeTexts.joined(separator: ", ")
        return FileError(
            code: .malformedValue,
            message:
                "\(key.attribute) has the value \(quoted(prefix))\(size), which is not one of: "
                + valid,
            advice: "store a valid value with set, or remove this one with unset", path: path,
            attribute: key.attribute)
    }
}

/// Returns bytes in double quotes, with everything but printable ASCII escaped as `\xHH`.
private func quoted(_ bytes: [UInt8]) -> String {
    var text = "\""
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            text += "\\" + String(UnicodeScalar(byte))
        case 0x20..<0x7F:
            text += String(UnicodeScalar(byte))
        default:
            text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
    return text + "\""
}
