import ArgumentParser
import Glibc

/// When output is coloured.
package enum ColorMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// On a terminal, unless `NO_COLOR` is set and not empty, or `TERM` is `dumb` or not set.
    case auto
    /// Always, regardless of the environment.
    case always
    /// Never.
    case never

    /// Whether standard output is coloured.
    package var colorsStandardOutput: Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto:
            return StandardOutput.shared.isTerminal && !isSet("NO_COLOR") && !isDumbTerminal
        }
    }

    private func isSet(_ name: String) -> Bool {
        guard let value = getenv(name) else { return false }
        return value.pointee != 0
    }

    private var isDumbTerminal: Bool {
        guard let terminal = getenv("TERM") else { return true }
        return String(cString: terminal) == "dumb"
    }
}

/// The option `--color`.
package struct ColorOptions: ParsableArguments {
    /// When output is coloured.
    @Option(help: ArgumentHelp("Colour the output: auto, always or never.", valueName: "when"))
    package var color = ColorMode.auto

    /// Creates options to be filled by the parser.
    package init() {}
}
