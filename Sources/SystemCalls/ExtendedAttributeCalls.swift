import CLinux
import SystemPackage

/// The name of an extended attribute, such as `user.resval.isPurgeable`: bytes that include the
/// namespace.
public struct ExtendedAttributeName: Sendable, Hashable {
    /// The name's bytes, followed by one NUL.
    @usableFromInline let storage: [CChar]

    /// Creates a name from a string's UTF-8 bytes up to the first NUL.
    public init(_ name: String) {
        self.init(bytes: name.utf8)
    }

    /// Creates a name from the bytes up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        storage = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    }

    /// The name's bytes, without the NUL.
    public var bytes: [UInt8] { storage.withUnsafeBytes { Array($0.dropLast()) } }

    @inlinable
    package func withPointer<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeBufferPointer { buffer throws(Failure) in
            // The NUL is always there, so the buffer is never empty.
            try body(buffer.baseAddress.unsafelyUnwrapped)
        }
    }
}

extension ExtendedAttributeName: ExpressibleByStringLiteral {
    /// Creates a name from a string literal.
    public init(stringLiteral name: String) { self.init(name) }
}

extension ExtendedAttributeName: CustomStringConvertible {
    /// The name as text; invalid UTF-8 becomes U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// A condition on an extended attribute's existence, for setting it.
public enum ExtendedAttributeCondition: Sendable, Hashable {
    /// No condition: create or replace.
    case none
    /// The attribute does not exist (`XATTR_CREATE`).
    case absent
    /// The attribute exists (`XATTR_REPLACE`).
    case present

    package var flags: CInt {
        switch self {
        case .none: 0
        case .absent: CInt(XATTR_CREATE)
        case .present: CInt(XATTR_REPLACE)
        }
    }
}

/// The extended attribute calls, each in the form that fits the target.
///
/// A descriptor uses the `f…` call, a path from the working directory the plain or `l…` call, and a
/// name in another directory the xattrat calls of Linux 6.13. Without those, such a name is opened
/// with `O_PATH` and reached through `/proc/self/fd`.
@usableFromInline
package enum ExtendedAttributeCalls {
    /// Reads a value: `getxattr(2)`. With an empty buffer, returns the value's size.
    package static func get(
        _ target: CallTarget, _ name: UnsafePointer<CChar>,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        let (value, size) = (buffer.baseAddress, buffer.count)
        return try call(
            .getxattr, target,
            descriptor: { linux_fgetxattr($0, name, value, size) },
            path: { linux_getxattr($0, name, value, size) },
            link: { linux_lgetxattr($0, name, value, size) },
            entry: {
                linux_getxattrat(
                    $0.directory, $0.path, UInt32($0.flags), name, value, UInt32(size))
            })
    }

    /// Stores a value: `setxattr(2)` with 0, `XATTR_CREATE` or `XATTR_REPLACE`.
    package static func set(
        _ target: CallTarget, _ name: UnsafePointer<CChar>, to value: UnsafeRawBufferPointer,
        flags: CInt
    ) throws(Errno) {
        let (bytes, size) = (value.baseAddress, value.count)
        do throws(Errno) {
            _ = try call(
                .setxattr, target,
                descriptor: { linux_fsetxattr($0, name, bytes, size, flags) },
                path: { linux_setxattr($0, name, bytes, size, flags) },
                link: { linux_lsetxattr($0, name, bytes, size, flags) },
                entry: {
                    linux_setxattrat(
                        $0.directory, $0.path, UInt32($0.flags), name, bytes, UInt32(size),
                        UInt32(flags))
                })
        } catch .noData where flags & CInt(XATTR_REPLACE) == 0 {
            // As for a list: the filesystem keeps no attributes.
            throw .notSupported
        }
    }

    /// Whether there is any attribute: one `listxattr(2)`. False where the filesystem has none.
    @inlinable
    package static func haveAny(_ target: CallTarget) throws(Errno) -> Bool {
        do throws(Errno) {
            return try list(target, into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) > 0
        } catch .notSupported {
            return false
        }
    }

    /// Lists names, each NUL-terminated: `listxattr(2)`. With an empty buffer, returns the list's
    /// size.
    @usableFromInline
    package static func list(
        _ target: CallTarget, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        let names = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        let size = buffer.count
        do throws(Errno) {
            return try call(
                .listxattr, target,
                descriptor: { linux_flistxattr($0, names, size) },
                path: { linux_listxattr($0, names, size) },
                link: { linux_llistxattr($0, names, size) },
                entry: { linux_listxattrat($0.directory, $0.path, UInt32($0.flags), names, size) })
        } catch .noData {
            // The answer of filesystems that are told to keep no attributes (mergerfs).
            return 0
        }
    }

    /// Removes an attribute: `removexattr(2)`.
    package static func remove(
        _ target: CallTarget, _ name: UnsafePointer<CChar>
    ) throws(Errno) {
        _ = try call(
            .removexattr, target,
            descriptor: { linux_fremovexattr($0, name) },
            path: { linux_removexattr($0, name) },
            link: { linux_lremovexattr($0, name) },
            entry: { linux_removexattrat($0.directory, $0.path, UInt32($0.flags), name) })
    }

    @inline(__always)
    private static func call(
        _ call: SystemCall, _ target: CallTarget,
        descriptor: (CInt) -> Int, path: (UnsafePointer<CChar>) -> Int,
        link: (UnsafePointer<CChar>) -> Int, entry: (CallTarget) -> Int
    ) throws(Errno) -> Int {
        if target.isDescriptor {
            do throws(Errno) {
                return try perform(call) { descriptor(target.directory) }
            } catch .badFileDescriptor {
                // The f… calls reject O_PATH descriptors.
                return try throughProcess(target.directory, call, path)
            }
        }
        if target.isRelativeToWorkingDirectory {
            return try perform(call) {
                target.followsSymbolicLink ? path(target.path) : link(target.path)
            }
        }
        if AvailableCalls.xattrat { return try perform(call) { entry(target) } }
        return try throughReference(to: target, call, path)
    }

    /// Makes a call for a name in a directory where the xattrat calls are not available.
    static func throughReference(
        to target: CallTarget, _ call: SystemCall, _ path: (UnsafePointer<CChar>) -> Int
    ) throws(Errno) -> Int {
        let opened = OwnedDescriptor(
            try openFile(
                in: target.directory, target.path,
                flags: target.followsSymbolicLink ? .reference : [.reference, .noFollow]))
        defer { withExtendedLifetime(opened) {} }
        return try throughProcess(opened.descriptor.rawValue, call, path)
    }

    private static func throughProcess(
        _ descriptor: CInt, _ call: SystemCall, _ path: (UnsafePointer<CChar>) -> Int
    ) throws(Errno) -> Int {
        do throws(Errno) {
            return try processPath(of: descriptor).withPointer { name throws(Errno) in
                try perform(call) { path(name) }
            }
        } catch .noSuchFileOrDirectory {
            // The descriptor is open, so /proc is missing: never report that the file vanished.
            throw .noFunction
        }
    }
}
