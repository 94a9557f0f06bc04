import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Returns the value of an extended attribute: `getxattr(2)`.
    ///
    /// - Returns: nil if the attribute is not set; an empty array if its value is empty.
    /// - Throws: ``FileError``: `noSuchFile`, `permissionDenied`, `unsupportedFilesystem` and others.
    public func extendedAttribute(
        named name: ExtendedAttributeName
    ) throws(FileError) -> [UInt8]? {
        try calls(on: pathForMessages, { .readingAttribute($0, name, of: $1) }) {
            () throws(Errno) in
            try withCallTarget { target throws(Errno) in try attributeValue(target, name) }
        }
    }

    /// Stores an extended attribute: `setxattr(2)`.
    ///
    /// - Throws: ``FileError``: `attributeExists` or `noSuchAttribute` if `condition` is not met,
    ///   `unsupportedFileKind`, `unsupportedFilesystem`, `noSpace`, `quotaExceeded`, `tooLarge`,
    ///   `readOnlyFilesystem`, `immutable`, `permissionDenied` and others. Nothing is stored then.
    @inlinable
    public func setExtendedAttribute(
        named name: ExtendedAttributeName, to value: [UInt8],
        if condition: ExtendedAttributeCondition = .none
    ) throws(FileError) {
        do throws(Errno) {
            try lookUp { target throws(Errno) in
                try storeAttribute(name, value, condition, target)
            }
        } catch {
            throw storingError(error, name)
        }
    }

    /// Removes an extended attribute: `removexattr(2)`.
    ///
    /// - Returns: whether the attribute was set; false also where the filesystem has no attributes.
    /// - Throws: ``FileError``, as ``setExtendedAttribute(named:to:if:)``.
    @discardableResult
    public func removeExtendedAttribute(
        named name: ExtendedAttributeName
    ) throws(FileError) -> Bool {
        do throws(Errno) {
            try withCallTarget { target throws(Errno) in
                try name.withPointer { name throws(Errno) in
                    try ExtendedAttributeCalls.remove(target, name)
                }
            }
            return true
        } catch .noData, .notSupported {
            return false
        } catch {
            throw storingError(error, name)
        }
    }

    /// Returns the names of all extended attributes visible to this process: `listxattr(2)`.
    ///
    /// - Returns: the names in the kernel's order; empty if there are none, also where the filesystem has
    ///   no attributes.
    /// - Throws: ``FileError``: `noSuchFile`, `permissionDenied`, `tooLarge` (over 64 KiB of names)
    ///   and others.
    public func extendedAttributeNames() throws(FileError) -> [ExtendedAttributeName] {
        guard let names = try listedAttributeNames() else {
            throw .listingAttributes(.argListTooLong, of: pathForMessages)
        }
        return names.map { ExtendedAttributeName(bytes: $0) }
    }

    /// Returns the names of all extended attributes visible to this process, as a walk sees them.
    ///
    /// - Returns: empty also where the filesystem has no attributes; nil if there are more than the
    ///   kernel lists (64 KiB).
    package func listedAttributeNames() throws(FileError) -> [[UInt8]]? {
        try calls(on: pathForMessages, FileError.listingAttributes) { () throws(Errno) in
            try withCallTarget { target throws(Errno) in
                try withAttributeList(target) { $0?.split(separator: 0).map { Array($0) } }
            }
        }
    }

    /// Returns the error for an attribute, or another property of the item, that could not be
    /// stored.
    @usableFromInline
    package func storingError(
        _ errno: Errno, _ name: ExtendedAttributeName? = nil
    ) -> FileError {
        // Without a status the message is only less specific.
        let status = try? status()
        let filesystem = errno == .readOnlyFileSystem ? try? filesystemStatus(of: self) : nil
        return explaining(
            .storingAttribute(
                errno, name, on: pathForMessages, status: status, user: effectiveUser(),
                filesystem: filesystem?.type))
    }
}

/// Returns the value of an attribute; nil if it is not set.
func attributeValue(
    _ target: CallTarget, _ name: ExtendedAttributeName
) throws(Errno) -> [UInt8]? {
    do throws(Errno) {
        return try name.withPointer { name throws(Errno) in
            try readGrowing { buffer throws(Errno) in
                try ExtendedAttributeCalls.get(target, name, into: buffer)
            }
        }
    } catch .noData {
        return nil
    }
}

/// Not generic over the location, so that storing costs no more than the system call.
@usableFromInline
func storeAttribute(
    _ name: ExtendedAttributeName, _ value: [UInt8], _ condition: ExtendedAttributeCondition,
    _ target: CallTarget
) throws(Errno) {
    try name.withPointer { name throws(Errno) in
        try withBytes(of: value) { bytes throws(Errno) in
            try ExtendedAttributeCalls.set(target, name, to: bytes, flags: condition.flags)
        }
    }
}

/// The most bytes that the kernel returns: `XATTR_SIZE_MAX` and `XATTR_LIST_MAX` of linux/limits.h.
private let largestAnswer = 65536

/// Reads the result of a call into a buffer, and again into a larger one if the call fails with
/// `ERANGE`.
///
/// - Parameter size: the size of the first buffer.
/// - Throws: the call's errno; `ERANGE` itself if even the kernel's largest result does not fit.
private func readGrowing(
    from size: Int = 256, _ call: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
) throws(Errno) -> [UInt8] {
    var size = size
    while true {
        var outcome: Result<Void, Errno> = .success(())
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            do throws(Errno) {
                count = try call(UnsafeMutableRawBufferPointer(buffer))
            } catch {
                outcome = .failure(error)
            }
        }
        switch outcome {
        case .success: return bytes
        case .failure(.outOfRange) where size < largestAnswer: size = largestAnswer
        case .failure(let errno): throw errno
        }
    }
}

/// Calls `body` with the names of a file's attributes, each NUL-terminated: one `listxattr(2)`, without an
/// allocation unless the list is long.
///
/// - Parameter body: given an empty list also where the filesystem has no attributes, and nil if there
///   are more names than the kernel lists (64 KiB).
@inline(__always)
func withAttributeList<Result>(
    _ target: CallTarget, _ body: (UnsafeRawBufferPointer?) throws(Errno) -> Result
) throws(Errno) -> Result {
    try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer throws(Errno) in
        let length: Int
        do throws(Errno) {
            length = try ExtendedAttributeCalls.list(target, into: buffer)
        } catch .notSupported {
            length = 0
        } catch .outOfRange {
            return try withLongAttributeList(target, body)
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
    }
}

private func withLongAttributeList<Result>(
    _ target: CallTarget, _ body: (UnsafeRawBufferPointer?) throws(Errno) -> Result
) throws(Errno) -> Result {
    let list: [UInt8]
    do throws(Errno) {
        list = try readGrowing(from: largestAnswer) { buffer throws(Errno) in
            try ExtendedAttributeCalls.list(target, into: buffer)
        }
    } catch  where error == .outOfRange || error == .argListTooLong {
        // The kernel gives E2BIG for a filesystem's ERANGE when the buffer has the greatest size.
        return try body(nil)
    }
    return try withBytes(of: list, body)
}

/// Calls `body` with an array's bytes: `withUnsafeBytes` with a typed error.
func withBytes<Result>(
    of array: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Errno) -> Result
) throws(Errno) -> Result {
    try array.withUnsafeBufferPointer { buffer throws(Errno) in
        try body(UnsafeRawBufferPointer(buffer))
    }
}
