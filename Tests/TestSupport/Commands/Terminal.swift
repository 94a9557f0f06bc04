import SystemCalls
import SystemPackage

extension Command {
    /// This command on a terminal of its own, on which its input is typed and to which both its
    /// outputs go; needs `script`.
    ///
    /// - Parameters:
    ///   - type: the terminal's type, such as `xterm`.
    ///   - delay: how long each reading of a directory takes; needs `strace`.
    package func onTerminal(_ type: String, directoriesTaking delay: Duration? = nil) -> Command {
        var words = ([executable.bytes] + arguments)
            .map { "'" + String(decoding: $0, as: UTF8.self) + "'" }
        if let delay {
            words.insert(
                "strace -f -qq -o /dev/null -e trace=getdents64 "
                    + "-e inject=getdents64:delay_exit=\(delay / .microseconds(1))", at: 0)
        }
        var command = delay == nil ? self : underTracer()
        command.executable = FilePath.tool("script") ?? "/usr/bin/script"
        command.arguments = ["-qec", words.joined(separator: " "), "/dev/null"]
            .map { Array($0.utf8) }
        command.environment["TERM"] = type
        return command
    }

    /// This command for `strace`, under which the leak sanitizer cannot look for leaks.
    package func underTracer() -> Command {
        var command = self
        command.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        return command
    }
}

/// What a terminal showed.
package struct TerminalOutput {
    /// What remained on each line.
    package var lines: [String] = []
    /// What was cleared, in order.
    package var cleared: [String] = []

    package init(_ text: String) {
        for line in text.split(separator: "\r\n") {
            var parts = line.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false)
                .map(String.init)
            lines.append(parts.removeLast())
            cleared += parts.filter { !$0.isEmpty }
        }
        // Behind the last line there is only what was cleared.
        if lines.last == "" { lines.removeLast() }
    }
}
