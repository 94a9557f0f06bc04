import SystemCalls
import SystemPackage

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

    /// Returns all marks, and the names of all other extended attributes, with the calls of
    /// ``marks()``.
    ///
    /// - Throws: as ``mark(for:)``.
    package func listedMarks() throws(FileError) -> ListedMarks {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                try readMarks(target, namingOthers: true)
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

/// Reads the marks of a file. Allocates nothing for a file without attributes, the usual case.
@usableFromInline
func readMarks(_ target: CallTarget) throws(Errno) -> Marks {
    try readMarks(target, namingOthers: false).marks
}

private func readMarks(
    _ target: CallTarget, namingOthers: Bool
) throws(Errno) -> ListedMarks {
    let length: Int
    do throws(Errno) {
        length = try ExtendedAttributeCalls.listLength(target)
    } catch .notSupported {
        return ListedMarks()
    }
    return length == 0 ? ListedMarks() : try readListedMarks(target, namingOthers)
}

/// Reads the marks that the list of names contains.
private func readListedMarks(
    _ target: CallTarget, _ namingOthers: Bool
) throws(Errno) -> ListedMarks {
    let names: [UInt8]
    do throws(Errno) {
        names = try readGrowing { buffer throws(Errno) in
            try ExtendedAttributeCalls.list(target, into: buffer)
        }
    } catch .outOfRange {
        return ListedMarks(marks: try readEachMark(target), otherNames: nil)
    }
    var found = ListedMarks()
    for name in names.split(separator: 0) {
        if name.elementsEqual(excludedAttribute.bytes) {
            found.marks.isExcludedFromBackup = Mark(try readRawMark(target, excludedAttribute))
        } else if name.elementsEqual(purgeableAttribute.bytes) {
            found.marks.isPurgeable = Mark(try readRawMark(target, purgeableAttribute))
        } else if name.elementsEqual(protectionAttribute.bytes) {
            found.marks.fileProtection = Mark(try readRawMark(target, protectionAttribute))
        } else if namingOthers {
            found.otherNames?.append(Array(name))
        }
    }
    return found
}

/// Reads every mark by its name, for when the names cannot be listed.
private func readEachMark(_ target: CallTarget) throws(Errno) -> Marks {
    Marks(
        isExcludedFromBackup: Mark(try readRawMark(target, excludedAttribute)),
        isPurgeable: Mark(try readRawMark(target, purgeableAttribute)),
        fileProtection: Mark(try readRawMark(target, protectionAttribute)))
}

private let excludedAttribute = StoredKey<Bool>.isExcludedFromBackup.attribute
private let purgeableAttribute = StoredKey<Bool>.isPurgeable.attribute
private let protectionAttribute = StoredKey<FileProtection>.fileProtection.attribute
