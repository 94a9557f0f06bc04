import Glibc
import SystemPackage

/// The arguments of this process, in memory that lasts as long as it.
struct ProcessArguments: @unchecked Sendable {
    /// The arguments of this process.
    ///
    /// `CommandLine` reads them from `/proc`, and has none where it is not mounted.
    static let current = ProcessArguments()

    /// The number of arguments, with the program's name.
    let count: Int
    /// The arguments, followed by NULL.
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    private init() {
        (count, pointers) = startArguments ?? (Int(CommandLine.argc), CommandLine.unsafeArgv)
    }

    /// The directory in which the program was executed by a path; nil when it was found by its name.
    var directory: FilePath? {
        guard let program = pointers[0], strchr(program, CInt(UInt8(ascii: "/"))) != nil else {
            return nil
        }
        return FilePath(platformString: program).removingLastComponent()
    }
}

/// What the initializer below was called with.
private nonisolated(unsafe) var startArguments:
    (count: Int, pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)?

/// An initializer that glibc calls, with the arguments of `main`, before those of Swift's runtime.
///
/// The runtime of a static program looks for its directory by `/proc/self/exe` then, and ends the process
/// where that cannot be read. A directory in the environment spares it the search.
@section(".init_array.00101")
@used
private let prepareProcess:
    @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Void = {
        count, pointers in
        startArguments = (Int(count), pointers)
        if access("/proc/self/exe", F_OK) != 0 { setenv("SWIFT_ROOT", "/", 0) }
    }
