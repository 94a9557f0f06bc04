import Glibc
import SystemCalls
import SystemPackage

/// The companion programs: `resval backup …` runs `resval-backup …`, as git does.
package enum Companion {
    /// The arguments that name a companion.
    package static let names = ["backup", "purge"]

    /// Replaces this process by a companion if the first argument names one, passing the other
    /// arguments byte for byte; otherwise returns.
    package static func runIfNamed() {
        guard CommandLine.argc > 1, let first = CommandLine.unsafeArgv[1],
            let name = names.first(where: { strcmp($0, first) == 0 })
        else { return }
        let program = "resval-\(name)"
        // The companion's arguments begin with its name.
        let arguments = CommandLine.unsafeArgv + 1
        arguments[0] = strdup(program)
        let errno = becomeProgram(program, arguments)
        let advice =
            errno == .noSuchFileOrDirectory
            ? "install it beside resval or in a directory of PATH" : "\(errno)"
        Messages.write(about: [UInt8]?.none, "\(program) cannot be run (\(advice))")
        exit(2)
    }

    private static func becomeProgram(
        _ program: String, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Errno {
        if let beside = directoryOfThisProgram()?.appending(program) {
            beside.withPlatformString { _ = execv($0, arguments) }
            if errno != ENOENT { return Errno(rawValue: errno) }
        }
        execvp(program, arguments)
        return Errno(rawValue: errno)
    }
}
