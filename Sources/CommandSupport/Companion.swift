import Glibc
import SystemCalls
import SystemPackage

/// The companion programs: `resval backup …` runs `resval-backup …`, as git does.
package enum Companion {
    /// The arguments that name a companion.
    package static let names = ["backup", "purge"]

    /// Replaces this process by a companion if the first argument names one, passing the other
    /// arguments byte for byte; otherwise returns. The companion also answers what is asked about
    /// its own commands: `help backup COMMAND` and completions.
    package static func runIfNamed() {
        let isQuestion =
            ProcessArguments.current.count > 3
            && ["help", DescriptionRequest.completion].contains { isArgument(1, $0) }
        let index = isQuestion ? 2 : 1
        guard let name = names.first(where: { isArgument(index, $0) }) else { return }
        let program = "resval-\(name)"
        // The companion's arguments begin with its name.
        let arguments = ProcessArguments.current.pointers + 1
        if isQuestion { arguments[1] = arguments[0] }
        arguments[0] = strdup(program)
        let errno = becomeProgram(program, arguments)
        let advice =
            errno == .noSuchFileOrDirectory
            ? "install it beside resval or in a directory of PATH" : "\(errno)"
        Messages.write("\(program) cannot be run (\(advice))")
        exit(2)
    }

    private static func isArgument(_ index: Int, _ word: String) -> Bool {
        let arguments = ProcessArguments.current
        guard index < arguments.count, let argument = arguments.pointers[index] else {
            return false
        }
        return strcmp(word, argument) == 0
    }

    private static func becomeProgram(
        _ program: String, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Errno {
        let directory = directoryOfThisProgram() ?? ProcessArguments.current.directory
        if let beside = directory?.appending(program) {
            beside.withPlatformString { _ = execv($0, arguments) }
            if errno != ENOENT { return Errno(rawValue: errno) }
        }
        execvp(program, arguments)
        return Errno(rawValue: errno)
    }
}
