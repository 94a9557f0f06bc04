import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// What is stored for a key: one `getxattr(2)`.
    ///
    /// - Returns: ``Mark/unset`` where the attribute is absent, also on files and filesystems that
    ///   cannot hold any.
    /// - Throws: ``FileError`` when the file itself cannot be reached: `noSuchFile`,
    ///   `notADirectory`, `symbolicLinkLoop`, `nameTooLong`.
    public func mark<Value>(for key: StoredKey<Value>) throws(FileError) -> Mark<Value> {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                try readMark(target, key)
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
        if name.elementsEqual(StoredKey<Bool>.isExcludedFromBackup.attribute.bytes) {
            marks.isExcludedFromBackup = try readMark(target, .isExcludedFromBackup)
        } else if name.elementsEqual(StoredKey<Bool>.isPurgeable.attribute.bytes) {
            marks.isPurgeable = try readMark(target, .isPurgeable)
        } else if name.elementsEqual(StoredKey<FileProtection>.fileProtection.attribute.bytes) {
            marks.fileProtection = try readMark(target, .fileProtection)
        }
    }
    return marks
}

/// Reads every mark by its name, where the names could not be listed.
private func readEachMark(_ target: CallTarget) throws(Errno) -> Marks {
    Marks(
        isExcludedFromBackup: try readMark(target, .isExcludedFromBackup),
        isPurgeable: try readMark(target, .isPurgeable),
        fileProtection: try readMark(target, .fileProtection))
}

/// Reads one mark. Errors that say "there is an attribute, but it cannot be read" become a mark;
/// errors that say "there is no such file" are thrown.
func readMark<Value>(
    _ target: CallTarget, _ key: StoredKey<Value>
) throws(Errno) -> Mark<Value> {
    do throws(Errno) {
        return try withUnsafeTemporaryBytes(longestAttributeValue + 1) { buffer throws(Errno) in
            let count = try key.attribute.withPointer { name throws(Errno) in
                try ExtendedAttributeCalls.get(target, name, into: buffer)
            }
            return Mark(attributeBytes: Array(buffer[..<count]))
        }
    } catch {
        switch error {
        case .noData, .notSupported: return .unset
        case .outOfRange: return readOversizedMark(target, key)
        case .permissionDenied: return try unreadableIfListed(target, key)
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong,
            .badFileDescriptor:
            throw error
        default: return .unreadable(error)
        }
    }
}

/// Tells a mark that may not be read from one that is not there: reading needs permission on the
/// file, listing only on the directories above it.
private func unreadableIfListed<Value>(
    _ target: CallTarget, _ key: StoredKey<Value>
) throws(Errno) -> Mark<Value> {
    let names = try readGrowing { buffer throws(Errno) in
        try ExtendedAttributeCalls.list(target, into: buffer)
    }
    let isListed = names.split(separator: 0).contains { $0.elementsEqual(key.attribute.bytes) }
    return isListed ? .unreadable(.permissionDenied) : .unset
}

private func readOversizedMark<Value>(
    _ target: CallTarget, _ key: StoredKey<Value>
) -> Mark<Value> {
    do throws(Errno) {
        let bytes = try key.attribute.withPointer { name throws(Errno) in
            try readGrowing { buffer throws(Errno) in
                try ExtendedAttributeCalls.get(target, name, into: buffer)
            }
        }
        return Mark(attributeBytes: bytes)
    } catch .noData {
        return .unset
    } catch {
        return .unreadable(error)
    }
}

/// Calls `body` with room on the stack; `withUnsafeTemporaryAllocation` with a typed error.
@inline(__always)
private func withUnsafeTemporaryBytes<Result>(
    _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Errno) -> Result
) throws(Errno) -> Result {
    var outcome: Swift.Result<Result, Errno>?
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
        do throws(Errno) {
            outcome = .success(try body(buffer))
        } catch {
            outcome = .failure(error)
        }
    }
    guard let outcome else { throw .noMemory }
    return try outcome.get()
}
