import SystemCalls
import SystemPackage

/// A file that is open to be examined.
enum OpenedFile {
    case directory(OpenDirectory)
    /// A regular file.
    case leased(LeasedFile)
    /// A reference to anything else.
    case other(SharedDescriptor)

    var descriptor: FileDescriptor {
        switch self {
        case .directory(let directory): directory.descriptor
        case .leased(let file): file.descriptor
        case .other(let file): file.descriptor
        }
    }

    var leased: LeasedFile? {
        guard case .leased(let file) = self else { return nil }
        return file
    }

    /// Opens an entry of a directory.
    ///
    /// - Parameters:
    ///   - status: the status of the name as just read.
    ///   - patience: how long to retry while it is in use or locked.
    /// - Throws: ``KeepReason`` when it is in use or locked, as ``LeasedFile``; the errno of opening.
    init(
        _ name: FilePath, in directory: OpenDirectory, _ status: FileStatus, _ patience: Patience
    ) throws {
        switch status.kind {
        case .regularFile:
            self = .leased(try LeasedFile(name, in: directory.descriptor, status, patience))
        case .directory:
            let opened = try directory.openToRead(name)
            try requireUnlocked(opened.descriptor, patience)
            self = .directory(opened)
        default:
            self = .other(SharedDescriptor(try openReference(name, in: directory.descriptor)))
        }
    }
}

/// A regular file under a write lease: nothing else has it open, mapped or executed when this is
/// created.
///
/// The kernel refuses the lease while the file is in use elsewhere, also when only a mapping
/// remains. While this exists, a process that opens the file blocks, for at most
/// `/proc/sys/fs/lease-break-time` seconds, and ``requireUndisturbed()`` throws. The signal that
/// announces this, `SIGURG`, is ignored by default.
final class LeasedFile: Sendable {
    private let file: SharedDescriptor
    var descriptor: FileDescriptor { file.descriptor }

    /// Opens a file and takes its write lease and its lock.
    ///
    /// - Parameters:
    ///   - known: the status of the name as just read.
    ///   - patience: how long to retry while the file is in use or locked.
    /// - Throws: ``KeepReason``: `inUse`, `locked`, `changed` when the name leads to another file,
    ///   and `untestable` where one of the tests is not possible; `foreignOwner` instead of
    ///   `untestable` for a file of another user. The errno of any other call.
    init(
        _ name: FilePath, in directory: FileDescriptor, _ known: FileStatus,
        _ patience: Patience
    ) throws {
        do {
            file = try patience.retry(while: \.mayPass) { try Self.open(name, in: directory) }
            let opened = file.descriptor
            let status = try opened.status()
            guard status.kind == .regularFile, status.identity == known.identity else {
                throw KeepReason.changed
            }
            try patience.retry(while: \.mayPass) { try Self.lease(opened) }
        } catch KeepReason.untestable where known.owner != effectiveUser() {
            throw KeepReason.foreignOwner
        }
    }

    private static func open(
        _ name: FilePath, in directory: FileDescriptor
    ) throws -> SharedDescriptor {
        let flags: FileDescriptor.OpenOptions = [
            .readOnly, .nonBlocking, .noTerminal, .noFollow, .noAccessTime,
        ]
        do throws(Errno) {
            return SharedDescriptor(try openBeneath(name, in: directory, flags: flags))
        } catch {
            switch error {
            case .resourceTemporarilyUnavailable, .textFileBusy: throw KeepReason.inUse
            case .permissionDenied, .notPermitted: throw KeepReason.untestable(error)
            default: throw error
            }
        }
    }

    private static func lease(_ descriptor: FileDescriptor) throws(KeepReason) {
        do throws(Errno) {
            try takeWriteLease(of: descriptor)
        } catch .resourceTemporarilyUnavailable {
            throw .inUse
        } catch {
            throw .untestable(error)
        }
        try requireUnlocked(descriptor)
    }

    /// Throws `inUse` when another process tried to open the file since it was leased.
    func requireUndisturbed() throws(KeepReason) {
        let isUndisturbed = try inspect { () throws(Errno) in try holdsWriteLease(of: descriptor) }
        guard isUndisturbed else { throw .inUse }
    }
}

/// Takes the lock of an open directory. Throws `locked` when it is locked elsewhere.
func requireUnlocked(
    _ directory: FileDescriptor, _ patience: Patience
) throws(KeepReason) {
    try patience.retry(while: \.mayPass) { () throws(KeepReason) in
        try requireUnlocked(directory)
    }
}

private func requireUnlocked(_ file: FileDescriptor) throws(KeepReason) {
    let isFree = try inspect { () throws(Errno) in try takeLock(on: file) }
    guard isFree else { throw .locked }
}

/// Makes calls that tell whether something is in use, which is not known when one fails.
func inspect<Result>(_ body: () throws(Errno) -> Result) throws(KeepReason) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw .untestable(error)
    }
}

extension Error {
    /// Whether it is a reason that may pass soon, as when a program is just starting.
    var mayPass: Bool {
        switch self as? KeepReason {
        case .inUse, .locked, .processInside: true
        default: false
        }
    }
}
