import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// What is stored for a key: one `getxattr(2)`.
    ///
    /// - Returns: ``Mark/unset`` where the attribute is absent, also on files and filesystems that
    ///   cannot hold any.
    /// - Throws: ``FileError`` when the file itself cannot be reached: `noSuchFile`,
    ///   `notADirectory`, `symbolicLinkLoop`, `nameTooLong`.
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

    /// All marks stored on the item: one `listxattr(2)`, and one `getxattr(2)` for each mark.
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
}

/// Reads the marks of a file that mostly has none: nothing is allocated for such a file.
@usableFromInline
func readMarks(_ target: CallTarget) throws(Errno) -> Marks {
    let length: Int
    do throws(Errno) {
        length = try ExtendedAttributeCalls.listLength(target)
    } catch .notSupported {
        return .none
    }
    return length == 0 ? .none : try readListedMarks(target)
}

/// Reads the marks among the names that are listed.
private func readListedMarks(_ target: CallTarget) throws(Errno) -> Marks {
    let names: [UInt8]
    do throws(Errno) {
        names = try readGrowing { buffer throws(Errno) in
            try ExtendedAttributeCalls.list(target, into: buffer)
        }
    } catch .outOfRange {
        return try readEachMark(target)
    }
    var marks = Marks.none
    for name in names.split(separator: 0) where name.starts(with: attributePrefix.utf8) {
        if name.elementsEqual(excludedAttribute.bytes) {
            marks.isExcludedFromBackup = Mark(try readRawMark(target, excludedAttribute))
        } else if name.elementsEqual(purgeableAttribute.bytes) {
            marks.isPurgeable = Mark(try readRawMark(target, purgeableAttribute))
        } else if name.elementsEqual(protectionAttribute.bytes) {
            marks.fileProtection = Mark(try readRawMark(target, protectionAttribute))
        }
    }
    return marks
}

/// Reads every mark by its name, where the names could not be listed.
private func readEachMark(_ target: CallTarget) throws(Errno) -> Marks {
    Marks(
        isExcludedFromBackup: Mark(try readRawMark(target, excludedAttribute)),
        isPurgeable: Mark(try readRawMark(target, purgeableAttribute)),
        fileProtection: Mark(try readRawMark(target, protectionAttribute)))
}

private let excludedAttribute = StoredKey<Bool>.isExcludedFromBackup.attribute
private let purgeableAttribute = StoredKey<Bool>.isPurgeable.attribute
private let protectionAttribute = StoredKey<FileProtection>.fileProtection.attribute
