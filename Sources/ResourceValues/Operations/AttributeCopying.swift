import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Copies this item's marks to another item, all or none. Marks that are unset on this item are
    /// left unchanged on the other.
    ///
    /// - Returns: the number of marks copied.
    /// - Throws: ``FileError``: `malformedValue` and others for a mark of this item that cannot be
    ///   read, and as ``apply(_:)`` for the other item.
    public func copyMarks(
        to target: borrowing some FileLocation & ~Copyable
    ) throws(FileError) -> Int {
        var changes: [MarkChange] = []
        for key in StoredKey.allCases {
            if let value = try value(for: key) { changes.append(MarkChange(key, to: value)) }
        }
        try target.apply(changes)
        return changes.count
    }
}

extension FilePath {
    /// Copies all extended attributes of this regular file or directory to another, except those
    /// that xattr.conf(5) skips: `attr_copy_fd(3)`.
    ///
    /// - Throws: ``FileError`` for a file that cannot be opened for reading, or for the first
    ///   attribute that could not be stored; the others are copied then.
    public func copyExtendedAttributes(to target: FilePath) throws(FileError) {
        let input = try openToCopy(self)
        defer { closeIgnoringErrors(input) }
        let output = try openToCopy(target)
        // Attributes are stored when the call returns: closing the file cannot lose them.
        defer { closeIgnoringErrors(output) }
        do throws(Errno) {
            try copyAttributes(from: input, self, to: output, target)
        } catch {
            throw output.named(target).storingError(error)
        }
    }
}

private func openToCopy(_ path: FilePath) throws(FileError) -> FileDescriptor {
    return try calls(on: path, FileError.opening) { () throws(Errno) in
        try openForReading(path)
    }
}

/// What happens to attributes of other programs that the target cannot store.
enum UnstorableAttributes {
    /// They are left out: for a copy, whose original stays.
    case leftOut
    /// They are an error: where the original is removed or replaced.
    case refused
}

/// Copies all `user.*` attributes, including the marks, and the ACLs.
///
/// What this package stores or acts on, marks, those of other programs, and the records of evicted
/// files, is never left out: without it the copy would be backed up, deleted or read in another way.
///
/// - Parameters:
///   - isKept: whether attributes that the target already has are kept.
///   - record: what is left out, since the target has other content: the record of an evicted file.
///   - unstorable: what happens to other attributes that the target's filesystem does not store, or
///     for which it has no space besides that for content.
/// - Throws: ``FileError`` of the first attribute that could not be read or stored; its message
///   names what would be lost.
func copyUserAttributes(
    from source: NamedDescriptor, to target: NamedDescriptor,
    keepingPresent isKept: Bool = false, leavingOut record: EvictionRecord? = nil,
    unstorable: UnstorableAttributes
) throws(FileError) {
    let names = try source.extendedAttributeNames()
    for name in names where isCopied(name) && name != record?.attribute {
        guard let value = try source.extendedAttribute(named: name) else { continue }
        do throws(FileError) {
            try target.setExtendedAttribute(
                named: name, to: value, if: isKept ? .absent : .none)
        } catch {
            if isKept && error.code == .attributeExists { continue }
            guard isUnstorable(error, on: target) else { throw error }
            if unstorable == .leftOut && mayBeLeftOut(name) { continue }
            let isOneOfMany = error.code == .unsupportedFilesystem && isUserAttribute(name)
            let lost = names.filter {
                isUserAttribute($0) && (unstorable == .refused || !mayBeLeftOut($0))
            }
            throw error.losing(isOneOfMany ? lost : [name])
        }
    }
}

/// Whether an attribute could not be stored because of what the filesystem supports, and not because
/// the volume is full.
///
/// The errno of attributes that exceed the space for them in an inode or a block is that of a full
/// volume on ext4 and others.
private func isUnstorable(_ error: FileError, on target: NamedDescriptor) -> Bool {
    switch error.code {
    case .unsupportedFilesystem, .tooLarge, .quotaExceeded: return true
    case .noSpace:
        // Without an answer the volume counts as full, which loses nothing.
        guard let capacity = try? target.volumeCapacity() else { return false }
        return capacity.available >= roomForAttribute
    default: return false
    }
}

/// The space, in bytes, with which a volume is not full for one attribute: the kernel's limit for
/// a value (`XATTR_SIZE_MAX`), and as much for a block of the largest size.
private let roomForAttribute: Int64 = 128 << 10

/// Whether a copy without the attribute has the same meaning for this package.
private func mayBeLeftOut(_ name: ExtendedAttributeName) -> Bool {
    isUserAttribute(name) && !isMark(name)
}

private func isUserAttribute(_ name: ExtendedAttributeName) -> Bool {
    name.bytes.starts(with: "user.".utf8)
}

private func isMark(_ name: ExtendedAttributeName) -> Bool {
    name.bytes.starts(with: StoredKey.attributePrefix.utf8) || ForeignAttribute.all.contains(name)
}

extension FileError {
    /// Returns the error with the attributes that would be lost in its message and, where a copy may
    /// leave out all of them, the advice to copy.
    fileprivate func losing(_ names: [ExtendedAttributeName]) -> FileError {
        var error = self
        error.message +=
            ", and \(names.map { "\($0)" }.sorted().joined(separator: ", ")) would be lost"
        if names.allSatisfy(mayBeLeftOut) {
            error.advice = "copy the item instead: a copy leaves out attributes of other programs"
        }
        return error
    }
}

private func isCopied(_ name: ExtendedAttributeName) -> Bool {
    let bytes = name.bytes
    return isUserAttribute(name) || isMark(name)
        || bytes.elementsEqual("system.posix_acl_access".utf8)
        || bytes.elementsEqual("system.posix_acl_default".utf8)
}

/// Returns the permission bits for a copy: set-ID bits only if owner and group are the same.
///
/// - Parameter record: of an evicted file whose place the copy takes, with other content.
func copiedPermissions(
    _ status: FileStatus, of copy: FileDescriptor, replacing record: EvictionRecord? = nil
) throws(Errno) -> UInt16 {
    let copied = try copy.status()
    let isSameOwner = copied.owner == status.owner && copied.group == status.group
    let permissions = status.permissions(before: record)
    return isSameOwner ? permissions : permissions & ~0o6000
}

extension FileDescriptor {
    /// Gives an otherwise complete copy the mode and the times of the original.
    func finishCopy(of status: FileStatus) throws(Errno) {
        try changeMode(copiedPermissions(status, of: self), of: self)
        try setTimes(
            access: status.contentAccessTime, modification: status.contentModificationTime)
    }
}
