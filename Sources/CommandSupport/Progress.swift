import ArgumentParser
import Glibc
import Synchronization
import TextFormats

/// The options of commands that may take a long time.
package struct ProgressOptions: ParsableArguments {
    /// How progress is shown.
    package enum Form: String, ExpressibleByArgument, CaseIterable, Sendable {
        /// One line that is rewritten, on a terminal only.
        case auto
        /// One JSON object per line on standard error, terminal or not.
        case json
    }

    /// How progress is shown.
    @Option(
        help: ArgumentHelp(
            "Show progress as text on a terminal (auto), or as JSON lines on standard error.",
            valueName: "form"))
    package var progress = Form.auto

    /// Whether no progress is shown at all.
    @Flag(name: .customLong("no-progress"), help: "Show no progress.")
    package var isSilent = false

    /// Creates options to be filled by the parser.
    package init() {}

    /// Begins to show progress.
    ///
    /// - Parameter noun: the items counted, in the plural, such as `files`.
    package func begin(counting noun: StaticString) -> Progress {
        if isSilent { return Progress(.none, noun) }
        switch progress {
        case .json: return Progress(.json, noun)
        case .auto: return Progress(StandardError.isTerminal ? .line : .none, noun)
        }
    }
}

/// Shows the progress of long work on standard error, a few times a second. Threads may share one.
package final class Progress: Sendable {
    enum Form { case none, line, json }

    private let form: Form
    private let noun: StaticString
    private let count = Atomic<Int>(0)
    private let nextDisplay = Atomic<Int>(Progress.now() + Progress.firstDelay)

    /// The time before the first display, in nanoseconds: short work shows no progress.
    private static let firstDelay = 1_000_000_000
    private static let interval = 200_000_000

    init(_ form: Form, _ noun: StaticString) {
        self.form = form
        self.noun = noun
    }

    /// Counts items as done; cheap enough to be called every few hundred items of a hot loop.
    ///
    /// - Parameters:
    ///   - total: the number of items altogether; nil where unknown.
    ///   - bytes: the bytes done so far; nil where they are not counted.
    package func advance(by items: Int = 1, total: Int? = nil, bytes: Int64? = nil) {
        guard form != .none else { return }
        let done = count.add(items, ordering: .relaxed).newValue
        let now = Self.now()
        let due = nextDisplay.load(ordering: .relaxed)
        guard now >= due else { return }
        let isOurs = nextDisplay.compareExchange(
            expected: due, desired: now + Self.interval, ordering: .relaxed
        ).exchanged
        if isOurs { show(done, total, bytes) }
    }

    /// Clears the progress line.
    package func end() {
        if form == .line { StandardError.showProgress("") }
    }

    private func show(_ done: Int, _ total: Int?, _ bytes: Int64?) {
        switch form {
        case .none:
            break
        case .line:
            let ofTotal = total.map { " of \($0)" } ?? ""
            let size = bytes.map { ", \(sizeText($0))" } ?? ""
            StandardError.showProgress("\(noun): \(done)\(ofTotal)\(size)")
        case .json:
            var line = JSONLine()
            line.add("type", "progress")
            line.add("done", done)
            line.add("total", total)
            line.add("bytes", bytes)
            StandardError.write(line.ended())
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
