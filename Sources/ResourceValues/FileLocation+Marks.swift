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

extension FileLocation where Self: ~Copyable {
    /// Returns the mark stored for a key: one `getxattr(2)`.
    ///
    /// - Returns: ``Mark/unset`` if the attribute is absent, also on files and filesystems that do
    ///   not support user attributes.
    /// - Throws: ``FileError`` if the file itself cannot be reached: `noSuchFile`, `notADirectory`,
    ///   `symbolicLinkLoop`, `nameTooLong`.
    @inlinable
    public func mark<Value>(for key: StoredKey<Value>) throws(FileError) -> Mark<Value> {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                Mark(try readRawMark(target, key.attribute))
            }
        } catch {
            throw .readingAttribute(error, key.attribute, of: pathForMessages)
        }
    }

    /// Returns all marks stored on the item: one `listxattr(2)`, and one `getxattr(2)` for each
    /// mark.
    ///
    /// - Throws: as ``mark(for:)``.
    @inlinable
    public func marks() throws(FileError) -> Marks {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                try readMarks(target)
            }
        } catch {
            throw .readingAttribute(error, nil, of: pathForMessages)
        }
    }

    /// Whether the item may have marks: one `listxattr(2)`, which is all that most items of a walk need.
    ///
    /// - Returns: false if the names of its attributes are listed and none is that of a mark; true also
    ///   where the names cannot be listed, so that ``marks()`` reports the error.
    @inlinable
    package func mayHaveMarks() -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in try listsMarks(target) }
        } catch {
            return true
        }
    }

    /// Returns all marks, and the names of all other extended attributes, with the calls of ``marks()``.
    ///
    /// - Returns: nil for an item without attributes, the usual case.
    /// - Throws: as ``mark(for:)``.
    package func listedMarks() throws(FileError) -> ListedMarks? {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                try readListedMarks(target, namingOthers: true)
            }
        } catch {
            throw .readingAttribute(error, nil, of: pathForMessages)
        }
    }
}

/// The marks of an item and the names of its other attributes.
package struct ListedMarks {
    /// The marks.
    package var marks = Marks.none
    /// The names of the other attributes; nil if there are more than the kernel lists (64 KiB).
    package var otherNames: [[UInt8]]? = []
}

/// Reads the marks of a file. Allocates nothing unless a mark is broken, or the file has very many
/// attributes.
@usableFromInline
func readMarks(_ target: CallTarget) throws(Errno) -> Marks {
    try readListedMarks(target, namingOthers: false)?.marks ?? .none
}

/// Reads the marks of a file, and the names of its other attributes if these are requested; nil for a
/// file without attributes.
private func readListedMarks(
    _ target: CallTarget, namingOthers: Bool
) throws(Errno) -> ListedMarks? {
    try withAttributeList(target) { list throws(Errno) in
        guard var rest = list else {
            return ListedMarks(marks: try readEachMark(target), otherNames: nil)
        }
        if rest.isEmpty { return nil }
        var found = ListedMarks()
        while let end = rest.firstIndex(of: 0) {
            let name = UnsafeRawBufferPointer(rebasing: rest[..<end])
            if let key = storedKey(ofAttribute: name) {
                try key.read(target, into: &found.marks)
            } else if namingOthers {
                found.otherNames?.append(Array(name))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return found
    }
}

/// Whether the names of a file's attributes include that of a mark, or are too many to be listed.
@usableFromInline
func listsMarks(_ target: CallTarget) throws(Errno) -> Bool {
    try withAttributeList(target) { list throws(Errno) in
        guard var rest = list else { return true }
        while let end = rest.firstIndex(of: 0) {
            let name = UnsafeRawBufferPointer(rebasing: rest[..<end])
            if name.starts(with: attributePrefix.utf8) { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return false
    }
}

private func storedKey(ofAttribute name: UnsafeRawBufferPointer) -> AnyStoredKey? {
    // Other attributes are common, and cost one comparison.
    guard name.starts(with: attributePrefix.utf8) else { return nil }
    return ResourceKey.storedAttributes.first { $0.name.elementsEqual(name) }?.key
}

/// Reads every mark by its name, for when the names cannot be listed.
private func readEachMark(_ target: CallTarget) throws(Errno) -> Marks {
    var marks = Marks.none
    for (_, key) in ResourceKey.storedAttributes { try key.read(target, into: &marks) }
    return marks
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
