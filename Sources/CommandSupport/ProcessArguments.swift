import Glibc
import SystemPackage

/// The arguments of this process, in memory that lasts as long as it.
struct ProcessArguments: @unchecked Sendable {
    /// The arguments of this process. To be read before anything changes the environment.
    ///
    /// `CommandLine` reads them from `/proc`, and has none where it is not mounted.
    static let current = ProcessArguments()

    /// The number of arguments, with the program's name.
    let count: Int
    /// The arguments, followed by NULL.
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// Finds the arguments where the kernel put them, below the environment: their number, the
    /// arguments, NULL, the environment.
    private init() {
        let environment = Glibc.environ
        guard environment[-1] == nil else {
            (count, pointers) = (Int(CommandLine.argc), CommandLine.unsafeArgv)
            return
        }
        var count = 0
        var first = environment - 1
        // No pointer is as low as a number of arguments.
        while UInt(bitPattern: first[-1]) != UInt(count) {
            first -= 1
            count += 1
        }
        (self.count, pointers) = (count, first)
    }

    /// The directory in which the program was executed by a path; nil when it was found by its name.
    var directory: FilePath? {
        guard let program = pointers[0], strchr(program, CInt(UInt8(ascii: "/"))) != nil else {
            return nil
        }
        return FilePath(platformString: program).removingLastComponent()
    }
}
