import SystemCalls
import SystemPackage

/// Copies all `user.*` attributes, including the marks, and the ACLs.
///
/// - Parameter isKept: whether attributes that the target already has are kept.
/// - Throws: ``FileError`` of the first attribute that could not be read or stored.
func copyUserAttributes(
    from source: borrowing some FileLocation & ~Copyable, to target: FileDescriptor,
    keepingPresent isKept: Bool = false
) throws(FileError) {
    for name in try attributeNames(of: source) where isCopied(name) {
        guard let value = try source.extendedAttribute(named: name) else { continue }
        do throws(FileError) {
            try target.setExtendedAttribute(
                named: name, to: value, if: isKept ? .absent : .none)
        } catch {
            if isKept && error.code == .attributeExists { continue }
            throw error
        }
    }
}

private func attributeNames(
    of location: borrowing some FileLocation & ~Copyable
) throws(FileError) -> [ExtendedAttributeName] {
    do throws(FileError) {
        return try location.extendedAttributeNames()
    } catch {
        if error.code == .unsupportedFilesystem { return [] }
        throw error
    }
}

private func isCopied(_ name: ExtendedAttributeName) -> Bool {
    let bytes = name.bytes
    return bytes.starts(with: "user.".utf8)
        || bytes.elementsEqual("system.posix_acl_access".utf8)
        || bytes.elementsEqual("system.posix_acl_default".utf8)
}

/// Returns the permission bits for a copy: set-ID bits only if owner and group are the same.
func copiedPermissions(_ status: FileStatus, of copy: FileDescriptor) throws(Errno) -> UInt16 {
    let copied = try copy.status()
    let isSameOwner = copied.owner == status.owner && copied.group == status.group
    return isSameOwner ? status.permissions : status.permissions & ~0o6000
}

extension FileDescriptor {
    /// Gives an otherwise complete copy the mode and the times of the original.
    func finishCopy(of status: FileStatus) throws(Errno) {
        try changeMode(copiedPermissions(status, of: self), of: self)
        try setTimes(
            access: status.contentAccessTime, modification: status.contentModificationTime)
    }
}
