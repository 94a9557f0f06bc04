import ArgumentParser
import Glibc
import Synchronization
import SystemCalls
import SystemPackage

/// Standard output: every write is checked, and the first failure is kept for the exit code.
///
/// After a failure nothing more is written, and ``StopRequest/isMade`` is true, so that work whose
/// results would be lost ends, unless it changes files.
package final class StandardOutput: Sendable {
    package static let shared = StandardOutput(.standardOutput)

    package let isTerminal: Bool
    private let descriptor: FileDescriptor
    private let failure = Monitor<Errno?>(nil)
    private let written = Atomic<Bool>(false)

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor.rawValue) == 1
    }

    /// The width of a terminal in columns; elsewhere that of the variable `COLUMNS`, else 80.
    package var columnCount: Int {
        let given = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 80
        return min(max(terminalColumnCount(descriptor) ?? given, 40), 1000)
    }

    var hasWritten: Bool { written.load(ordering: .relaxed) }

    package var hasFailed: Bool { failure.withLock { $0 } != nil }

    /// Writes all bytes at once; the bytes of two threads never mix.
    package func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        failure.withLock { failure in
            guard failure == nil else { return }
            do throws(Errno) {
                try write(all: bytes)
                written.store(true, ordering: .relaxed)
            } catch {
                failure = error
                StopRequest.makeAfterFailedOutput()
            }
        }
    }

    /// On a terminal, results first clear the progress line.
    private func write(all bytes: [UInt8]) throws(Errno) {
        func write() throws(Errno) { try writeFile(descriptor, bytes) }
        isTerminal ? try StandardError.withoutProgress(write) : try write()
    }

    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Closes the output; a network filesystem may report a failed write only then.
    ///
    /// - Returns: the errno of the first write or close that failed; nil when everything was
    ///   written.
    func finish() -> Errno? {
        failure.withLock { failure in
            guard failure == nil else { return failure }
            do throws(Errno) {
                try closeFile(descriptor)
            } catch {
                failure = error
            }
            return failure
        }
    }
}

package enum ColorMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// On a terminal, unless `NO_COLOR` is set and not empty, or `TERM` is `dumb` or not set.
    case auto
    case always
    case never

    package var colorsStandardOutput: Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto:
            let isRefused = environmentVariable("NO_COLOR")?.isEmpty == false
            return StandardOutput.shared.isTerminal && !isRefused && !isDumbTerminal
        }
    }
}

/// Whether the terminal cannot do more than print lines.
var isDumbTerminal: Bool {
    guard let terminal = getenv("TERM") else { return true }
    return String(cString: terminal) == "dumb"
}

/// A colour of output, by its number in ECMA-48.
package enum OutputColor: Int, Sendable {
    case green = 32
    case yellow, blue, magenta, cyan
}

extension OutputBuffer {
    package mutating func append(text: String, in color: OutputColor?) {
        append(in: color) { $0.append(text: text) }
    }

    package mutating func append(in color: OutputColor?, _ body: (inout OutputBuffer) -> Void) {
        if let color { append(bytes: Array("\u{1B}[\(color.rawValue)m".utf8)) }
        body(&self)
        if color != nil { append("\u{1B}[0m") }
    }
}

package struct ColorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Colour the output.", valueName: "when"))
    package var color = ColorMode.auto

    package init() {}
}
