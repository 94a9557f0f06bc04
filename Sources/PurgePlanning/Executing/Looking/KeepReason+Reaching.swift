import SystemCalls
import SystemPackage

extension KeepReason {
    /// What keeps an item that a call could not reach.
    init(reaching errno: Errno) {
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = .changed
        case .improperLink: self = .mountPoint
        default: self = .unreadable(errno)
        }
    }

    /// What keeps a location or a root that could not be reached.
    init(reaching error: FileError) {
        self = error.code == .unsafePath ? .unsafePath : .unreadable(error.errno ?? .ioError)
    }
}

/// Runs calls that reach an item to be looked at.
func reaching<Result: ~Copyable>(
    _ body: () throws(Errno) -> Result
) throws(KeepReason) -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw KeepReason(reaching: error)
    }
}
