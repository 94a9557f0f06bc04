import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Whether backups exclude the item; nil if that is unset.
    ///
    /// - Throws: as ``value(for:)``.
    public var isExcludedFromBackup: Bool? {
        get throws(FileError) { try value(for: .isExcludedFromBackup)?.boolean }
    }

    /// Whether the item may be deleted when space is short; nil if that is unset.
    ///
    /// - Throws: as ``value(for:)``.
    public var isPurgeable: Bool? {
        get throws(FileError) { try value(for: .isPurgeable)?.boolean }
    }

    /// The protection class; nil if none is stored.
    ///
    /// - Throws: as ``value(for:)``.
    public var fileProtection: FileProtection? {
        get throws(FileError) { try value(for: .fileProtection)?.protection }
    }

    /// Returns the value stored for a key.
    ///
    /// - Returns: nil if the key is unset. `false` is a value.
    /// - Throws: ``FileError``: `malformedValue` if the attribute's value is not valid in the
    ///   format, `permissionDenied` or `inputOutput` if it cannot be read, `noSuchFile` and others
    ///   if the file cannot be reached.
    @inlinable
    public func value(for key: StoredKey) throws(FileError) -> StoredValue? {
        let mark = try mark(for: key)
        if mark.isBroken, let error = mark.error(of: key, path: pathForMessages) { throw error }
        return mark.value
    }

    /// Stores a value for a key, without reading or writing any other key.
    ///
    /// - Throws: ``FileError``, as ``apply(_:)``. Nothing is stored then.
    @inlinable
    public func setValue(_ value: StoredValue, for key: StoredKey) throws(FileError) {
        try apply([MarkChange(key, to: value)])
    }

    /// Removes the value for a key, so that it is unset.
    ///
    /// - Returns: whether it was set before.
    /// - Throws: ``FileError``, as ``setExtendedAttribute(named:to:if:)``.
    @discardableResult
    public func removeValue(for key: StoredKey) throws(FileError) -> Bool {
        try removeExtendedAttribute(named: key.attribute)
    }

    /// Returns the mark stored for a key: one `getxattr(2)`.
    ///
    /// - Returns: ``Mark/unset`` if the attribute is absent, also on files and filesystems that do
    ///   not support user attributes.
    /// - Throws: ``FileError`` if the file itself cannot be reached: `noSuchFile`, `notADirectory`,
    ///   `symbolicLinkLoop`, `nameTooLong`.
    @inlinable
    public func mark(for key: StoredKey) throws(FileError) -> Mark {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in try readMark(target, key) }
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
        try calls(on: pathForMessages, FileError.listingAttributes) { () throws(Errno) in
            try withCallTarget { target throws(Errno) in try readMarks(target) }
        }
    }

    /// Whether the item may have marks: one `listxattr(2)`, which is all that most items of a walk need.
    ///
    /// - Returns: false if the names of its attributes are listed and none is that of a mark; true also
    ///   where the names cannot be listed, so that ``marks()`` reports the error.
    @inlinable
    package func mayHaveMarks() -> Bool {
        (try? withCallTarget { target throws(Errno) in try listsMarks(target) }) ?? true
    }

    /// Returns all marks, and the names of all other extended attributes, with the calls of ``marks()``.
    ///
    /// - Returns: nil for an item without attributes, the usual case.
    /// - Throws: as ``mark(for:)``.
    package func listedMarks() throws(FileError) -> ListedMarks? {
        try calls(on: pathForMessages, FileError.listingAttributes) { () throws(Errno) in
            try withCallTarget { target throws(Errno) in
                try readListedMarks(target, namingOthers: true)
            }
        }
    }
}

package struct ListedMarks {
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
            var found = ListedMarks(otherNames: nil)
            for key in StoredKey.allCases { found.marks[key] = try readMark(target, key) }
            return found
        }
        if rest.isEmpty { return nil }
        var found = ListedMarks()
        while let end = rest.firstIndex(of: 0) {
            let name = UnsafeRawBufferPointer(rebasing: rest[..<end])
            if let key = StoredKey(attribute: name) {
                found.marks[key] = try readMark(target, key)
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
            if name.starts(with: StoredKey.attributePrefix.utf8) { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return false
    }
}

/// Reads the mark of a key: one `getxattr(2)`, without an allocation unless the mark is broken.
///
/// Errors that mean that the attribute exists but cannot be read become a mark; errors that mean that
/// the file cannot be reached are thrown.
@usableFromInline
func readMark(_ target: CallTarget, _ key: StoredKey) throws(Errno) -> Mark {
    do throws(Errno) {
        return try withUnsafeTemporaryAllocation(
            byteCount: StoredKey.longestValue, alignment: 1
        ) { buffer throws(Errno) in
            let count = try key.attribute.withPointer { name throws(Errno) in
                try ExtendedAttributeCalls.get(target, name, into: buffer)
            }
            return Mark(UnsafeRawBufferPointer(rebasing: buffer[..<count]), of: key)
        }
    } catch {
        switch error {
        case .noData, .notSupported: return .unset
        case .outOfRange: return readLongMark(target, key)
        case .permissionDenied: return try unreadableIfListed(target, key)
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong,
            .badFileDescriptor:
            throw error
        default: return .unreadable(error)
        }
    }
}

/// Distinguishes an unreadable mark from an absent one: reading needs permission on the file,
/// listing only on the directories above it.
private func unreadableIfListed(_ target: CallTarget, _ key: StoredKey) throws(Errno) -> Mark {
    try withAttributeList(target) { list throws(Errno) in
        let isListed = list?.split(separator: 0).contains {
            $0.elementsEqual(key.attribute.bytes)
        }
        return isListed ?? true ? .unreadable(.permissionDenied) : .unset
    }
}

/// Reads a mark of more bytes than any valid value.
private func readLongMark(_ target: CallTarget, _ key: StoredKey) -> Mark {
    do throws(Errno) {
        let bytes = try attributeValue(target, key.attribute)
        return bytes?.withUnsafeBytes { Mark($0, of: key) } ?? .unset
    } catch {
        return .unreadable(error)
    }
}
