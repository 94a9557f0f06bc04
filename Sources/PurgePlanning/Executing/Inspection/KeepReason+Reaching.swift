import SystemCalls
import SystemPackage

extension KeepReason {
    /// The reason for an item that a system call could not reach.
    init(reaching errno: Errno) {
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
            .staleNFSFileHandle:
            self = .changed
        case .improperLink: self = .mountPoint
        default: self = .unreadable(errno)
        }
    }

    /// The reason for a location or a root that could not be reached.
    init(reaching error: FileError) {
        self = error.code == .unsafePath ? .unsafePath : .unreadable(error.errno ?? .ioError)
    }
}

/// Runs system calls that reach an item, and throws their errno as a ``KeepReason``.
func reaching<Result: ~Copyable>(
    _ body: () throws(Errno) -> Result
) throws(KeepReason) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw KeepReason(reaching: error)
    }
}
