import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// Messages for people on standard error: `resval: PATH: what is wrong (how to proceed)`.
///
/// Each message is one line, written by one call, with all characters escaped that could control a
/// terminal.
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
        var line = Array("\(programName): ".utf8)
        if let path {
            path.withUnsafeBufferPointer { NameEscaping.append($0, to: &line) }
            line.append(contentsOf: ": ".utf8)
        }
        line.append(contentsOf: safeMessageText(text).utf8)
        line.append(UInt8(ascii: "\n"))
        StandardError.write(line)
    }

    /// Writes a message about a path; nil when it does not concern a path.
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
        var answer: String?
        StandardError.withoutProgress { answer = readLine() }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    private static let name = Monitor("resval")

    /// The first error that was reported, which a failing command prints with `--json`.
    static var firstError: (path: [UInt8]?, text: String)? { first.withLock { $0 } }

    private static let first = Monitor<(path: [UInt8]?, text: String)?>(nil)

    /// Keeps an error for ``firstError``.
    static func note(_ path: [UInt8]?, _ text: String) {
        first.withLock { first in if first == nil { first = (path, text) } }
    }

    static func setProgramName(_ newName: String) { name.withLock { $0 = newName } }
}

/// Standard error, shared by messages and progress: a message first clears the progress line.
enum StandardError {
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// The width of the terminal now.
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
        bytes.withUnsafeBufferPointer { buffer in
            // A failure to write to standard error cannot be reported anywhere.
            try? writeFile(.standardError, UnsafeRawBufferPointer(buffer))
        }
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
