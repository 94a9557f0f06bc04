import SystemCalls
import SystemPackage

/// A regular file that nobody else has open, mapped or running, while this lives.
///
/// The write lease is the test: the kernel refuses it while anybody else has the file in use, also
/// when only a mapping is left. Whoever opens the file meanwhile waits, and ``isUndisturbed`` tells;
/// the signal for that is one nobody dies of.
final class HeldFile: Sendable {
    private let file: SharedDescriptor
    let status: FileStatus
    var descriptor: FileDescriptor { file.descriptor }

    /// Opens a file and takes its write lease and its lock.
    ///
    /// - Parameters:
    ///   - known: what has the name, as it was found a moment ago.
    ///   - patience: for what is in use, or locked.
    /// - Throws: `inUse`, `locked`, `changed` when the name leads to another file, and `untestable`
    ///   where one of the tests cannot be made; `foreignOwner` where that is the reason.
    init(
        _ name: FilePath, in directory: FileDescriptor, _ known: FileStatus,
        _ patience: Patience
    ) throws(KeepReason) {
        do throws(KeepReason) {
            file = try patience.retry(while: \.mayPass) { () throws(KeepReason) in
                try Self.open(name, in: directory)
            }
            let opened = file.descriptor
            status = try reaching { () throws(Errno) in try opened.status() }
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

    /// Throws unless nobody has tried to open the file since it is held.
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

/// Throws `locked` when somebody has locked an open directory.
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
    /// Whether a program that is just being started may be the reason.
    var mayPass: Bool {
        switch self {
        case .inUse, .locked, .processInside: true
        default: false
        }
    }
}
