import SystemCalls
import SystemPackage

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
    /// - Throws: `inUse`, `locked`, `changed` when the name leads to another file, and
    ///   `untestable` where one of the tests is not possible; `foreignOwner` instead of
    ///   `untestable` for a file of another user.
    init(
        _ name: FilePath, in directory: FileDescriptor, _ known: FileStatus,
        _ patience: Patience
    ) throws(KeepReason) {
        do throws(KeepReason) {
            file = try patience.retry(while: \.mayPass) { () throws(KeepReason) in
                try Self.open(name, in: directory)
            }
            let opened = file.descriptor
            let status = try reaching { () throws(Errno) in try opened.status() }
            guard status.kind == .regularFile, status.identity == known.identity else {
                throw .changed
            }
            try patience.retry(while: \.mayPass) { () throws(KeepReason) in
                try Self.hold(opened)
            }
        } catch .untestable(let errno) {
            throw known.owner == effectiveUser() ? .untestable(errno) : .foreignOwner
        } catch {
            throw error
        }
    }

    private static func open(
        _ name: FilePath, in directory: FileDescriptor
    ) throws(KeepReason) -> SharedDescriptor {
        let flags: FileDescriptor.OpenOptions = [
            .readOnly, .nonBlocking, .noTerminal, .noFollow, .noAccessTime,
        ]
        do throws(Errno) {
            return SharedDescriptor(try openBeneath(name, in: directory, flags: flags))
        } catch {
            switch error {
            case .resourceTemporarilyUnavailable, .textFileBusy: throw .inUse
            case .permissionDenied, .notPermitted: throw .untestable(error)
            default: throw KeepReason(reaching: error)
            }
        }
    }

    private static func hold(_ descriptor: FileDescriptor) throws(KeepReason) {
        do throws(Errno) {
            try takeWriteLease(of: descriptor)
        } catch .resourceTemporarilyUnavailable {
            throw .inUse
        } catch {
            throw .untestable(error)
        }
        let isFree: Bool
        do throws(Errno) {
            isFree = try takeLock(on: descriptor)
        } catch {
            throw .untestable(error)
        }
        guard isFree else { throw .locked }
    }

    /// Throws `inUse` when another process tried to open the file since it was leased.
    func requireUndisturbed() throws(KeepReason) {
        let isUndisturbed: Bool
        do throws(Errno) {
            isUndisturbed = try holdsWriteLease(of: descriptor)
        } catch {
            throw .untestable(error)
        }
        guard isUndisturbed else { throw .inUse }
    }
}

/// Takes the lock of an open directory. Throws `locked` when it is locked elsewhere.
func requireUnlocked(
    _ directory: FileDescriptor, _ patience: Patience
) throws(KeepReason) {
    try patience.retry(while: \.mayPass) { () throws(KeepReason) in
        let isFree: Bool
        do throws(Errno) {
            isFree = try takeLock(on: directory)
        } catch {
            throw .untestable(error)
        }
        guard isFree else { throw .locked }
    }
}

extension KeepReason {
    /// Whether the reason may pass soon, as when a program is just starting.
    var mayPass: Bool {
        switch self {
        case .inUse, .locked, .processInside: true
        default: false
        }
    }
}
