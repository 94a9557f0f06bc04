import Glibc
import SystemCalls
import SystemPackage

/// Messages for people on standard error: `resval: PATH: what is wrong (how to proceed)`.
///
/// Each message is one line, which a terminal's width breaks between words, written by one call, with all
/// characters escaped that could control a terminal.
package enum Messages {
    /// The name of the running program, which begins every message.
    package static var programName: String { name.withLock { $0 } }

    package static func write(_ error: FileError) {
        write(about: error.path?.bytes, error.description)
    }

    /// Reports an error of a file, with the path as the user gave it.
    package static func write(_ error: FileError, at path: some Sequence<UInt8>) {
        write(about: Array(path), error.description)
    }

    /// Writes a message about a path; nil when it does not concern a path.
    package static func write(about path: [UInt8]?, _ text: String) {
        note(path, text)
        say(path, text)
    }

    private static func say(_ path: [UInt8]?, _ text: String) {
        let width = StandardError.isTerminal ? StandardError.columnCount : .max
        StandardError.write(line("\(programName): ", path, text, to: width))
    }

    /// Returns a message as the line that begins with a text, or as several of a width.
    package static func line(
        _ start: String, _ path: [UInt8]?, _ text: String, to width: Int = .max
    ) -> [UInt8] {
        let subject = start + (path.map { "\(NameEscaping.text($0)):" } ?? "")
        let text = (path == nil ? "" : " ") + safeMessageText(text)
        return Array("\(subject)\(wrapped(text, to: width, from: subject.count))\n".utf8)
    }

    package static func write(about path: FilePath?, _ text: String) {
        write(about: path?.bytes, text)
    }

    package static func write(_ text: String) { write(about: [UInt8]?.none, text) }

    /// Tells something that is not an error.
    package static func inform(_ text: String) { say(nil, text) }

    /// Warns about a problem that did not prevent the work.
    package static func warn(about path: [UInt8]? = nil, _ text: String) {
        say(path, "warning: \(text)")
    }

    /// Whether messages go to a terminal, where people read them.
    package static var areOnTerminal: Bool { StandardError.isTerminal }

    /// Whether a person can be asked: standard input and standard error are terminals.
    package static var canAsk: Bool { StandardError.isTerminal && isatty(STDIN_FILENO) == 1 }

    /// Asks on the terminal whether to continue; only `y` and `yes` are consent.
    ///
    /// - Parameter fact: what the person has to know, without a question mark.
    package static func confirm(about path: [UInt8]?, _ fact: String) -> Bool {
        say(path, "\(fact): continue? [y/N]")
        return ["y", "yes"].contains(answer()?.lowercased())
    }

    /// Reads a line that a person types; nil at the end of the input, and when the program is to stop.
    ///
    /// - Parameter isSecret: whether the terminal does not show it.
    package static func answer(isSecret: Bool = false) -> String? {
        var line: [UInt8]?
        StandardError.withoutProgress {
            let shown = isSecret ? withoutEcho() : nil
            line = readLineOfInput()
            if var shown {
                tcsetattr(STDIN_FILENO, TCSANOW, &shown)
                StandardError.writeLineEnd()
            }
        }
        return line.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Stops the terminal from showing what is typed; returns how it was.
    private static func withoutEcho() -> termios? {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &mode)
        return before
    }

    /// Reads standard input up to the end of a line.
    private static func readLineOfInput() -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            guard waitUntilReadable(.standardInput) else { return nil }
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
    }

    private static let name = Monitor("resval")

    /// The first error that was reported, which a failing command prints with `--json`.
    static var firstError: ReportedError? { errors.withLock { $0.first } }

    /// The error that was reported last.
    package static var lastError: ReportedError? { errors.withLock { $0.last } }

    private static let errors = Monitor<(first: ReportedError?, last: ReportedError?)>((nil, nil))

    static func note(_ path: [UInt8]?, _ text: String) {
        let error = ReportedError(path, text)
        errors.withLock { $0 = ($0.first ?? error, error) }
    }

    static func setProgramName(_ newName: String) { name.withLock { $0 = newName } }
}

/// An error as it was reported, in the fields that JSON gives it.
package struct ReportedError: Sendable, Hashable {
    package var path: [UInt8]?
    package var text: String
    /// How to go on; nil where nothing was said.
    package var advice: String?

    package init(text: String) { self.text = text }

    /// Parts a message: `what is wrong (how to go on)`.
    fileprivate init(_ path: [UInt8]?, _ message: String) {
        self.path = path
        (text, advice) = parted(safeMessageText(message))
    }
}

extension JSONLine {
    package mutating func add(_ error: ReportedError) {
        add("path", "pathBase64", error.path)
        add("error", error.text)
        add("advice", error.advice)
    }
}

/// Standard error, shared by messages and progress: a message first clears the progress line.
enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    static var columnCount: Int { terminalColumnCount(.standardError) ?? 80 }

    /// Whether a line can be cleared and written again.
    static var canRewriteLine: Bool { isTerminal && !isDumbTerminal }

    private static let progress = Monitor((isShown: false, hasEnded: false))

    static func write(_ line: [UInt8]) {
        progress.withLock { progress in
            emit(progress.isShown ? clearingLine + line : line)
            progress.isShown = false
        }
    }

    /// Ends the line of an answer that was not shown; only while there is no progress.
    static func writeLineEnd() { emit([UInt8(ascii: "\n")]) }

    /// Replaces the progress line by text; empty text clears it.
    static func showProgress(_ text: String) {
        progress.withLock { progress in
            guard !progress.hasEnded, progress.isShown || !text.isEmpty else { return }
            emit(clearingLine + text.utf8)
            progress.isShown = !text.isEmpty
        }
    }

    /// Clears the progress line, before the process exits: other threads may still run then.
    static func endProgress() {
        progress.withLock { progress in
            if progress.isShown { emit(clearingLine) }
            progress = (isShown: false, hasEnded: true)
        }
    }

    /// Clears the progress line, and keeps it away while `body` runs.
    static func withoutProgress<Failure: Error>(
        _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        try progress.withLock { progress throws(Failure) in
            if progress.isShown { emit(clearingLine) }
            progress.isShown = false
            try body()
        }
    }

    private static let clearingLine = Array("\r\u{1B}[K".utf8)

    private static func emit(_ bytes: [UInt8]) {
        // A failure to write to standard error cannot be reported anywhere.
        try? writeFile(.standardError, bytes)
    }
}

/// Returns the text for a message: with unsafe characters escaped in octal, and likewise the
/// argument bytes that ``ArgumentBytes`` represents in a `String`.
package func safeMessageText(_ text: String, keepingNewlines: Bool = false) -> String {
    var output: [UInt8] = []
    for scalar in text.unicodeScalars {
        let isKept = keepingNewlines && scalar == "\n"
        let carried = ArgumentBytes.bytes(of: String(scalar))
        let isCarried = carried.count == 1 && !scalar.isASCII
        if isKept || (TextSafety.isSafe(scalar) && !isCarried) {
            output.append(contentsOf: carried)
        } else {
            for byte in carried { NameEscaping.appendOctal(byte, to: &output) }
        }
    }
    return String(decoding: output, as: UTF8.self)
}
