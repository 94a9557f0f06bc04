import ArgumentParser
import Glibc
import Synchronization
import SystemCalls
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

    /// Begins to show progress. A terminal that cannot clear a line (`TERM=dumb`) gets none.
    ///
    /// - Parameter noun: the items counted, in the plural, such as `files`.
    package func begin(counting noun: StaticString) -> Progress {
        if isSilent { return Progress(.none, noun) }
        switch progress {
        case .json: return Progress(.json, noun)
        case .auto:
            return Progress(StandardError.isTerminal && !isDumbTerminal ? .line : .none, noun)
        }
    }
}

/// Shows the progress of long work on standard error, a few times a second. Threads may share one.
///
/// Work that has several steps calls ``begin(counting:)`` for each after the first.
package final class Progress: Sendable {
    enum Form { case none, line, json }

    private let form: Form
    private let step: Monitor<ProgressStep>
    private let nextDisplay = Atomic<Int>(Progress.now() + Progress.firstDelay)

    /// The time before the first display, in nanoseconds: short work shows no progress.
    private static let firstDelay = 1_000_000_000
    private static let interval = 200_000_000

    init(_ form: Form, _ noun: StaticString) {
        self.form = form
        step = Monitor(ProgressStep(noun: noun, start: Self.now()))
    }

    /// Begins the next step.
    ///
    /// - Parameter noun: the items counted, in the plural.
    package func begin(counting noun: StaticString) {
        step.withLock { $0 = ProgressStep(noun: noun, start: Self.now()) }
    }

    /// Counts items as done; cheap enough to be called every few hundred items of a hot loop.
    package func advance(by items: Int = 1) { update { $0.done += items } }

    /// Sets what is done of this step, for work that counts by itself.
    ///
    /// - Parameters:
    ///   - total: the number of items altogether, as far as it is known; nil where unknown.
    ///   - totalBytes: their size in bytes.
    package func set(done: Int, total: Int?, bytes: Int64, totalBytes: Int64?) {
        update { step in
            step.done = done
            step.total = total
            step.bytes = bytes
            step.totalBytes = totalBytes
        }
    }

    /// Clears the progress line.
    package func end() {
        if form == .line { StandardError.showProgress("") }
    }

    private func update(_ change: (inout ProgressStep) -> Void) {
        guard form != .none else { return }
        let current = step.withLock { step in
            change(&step)
            return step
        }
        let now = Self.now()
        let due = nextDisplay.load(ordering: .relaxed)
        guard now >= due else { return }
        let isOurs = nextDisplay.compareExchange(
            expected: due, desired: now + Self.interval, ordering: .relaxed
        ).exchanged
        guard isOurs else { return }
        switch form {
        case .none: break
        case .line: StandardError.showProgress(current.text(at: now))
        case .json: StandardError.write(current.json(at: now))
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// What is done of one step of long work.
struct ProgressStep: Sendable {
    let noun: StaticString
    /// When the step began, in nanoseconds.
    let start: Int
    var done = 0
    var total: Int?
    var bytes: Int64 = 0
    var totalBytes: Int64?

    init(noun: StaticString, start: Int) {
        self.noun = noun
        self.start = start
    }

    /// The part that is done, from 0 to 1: of the bytes if their total is known, else of the items.
    private var part: Double? {
        if let totalBytes, totalBytes > 0 { return min(1, Double(bytes) / Double(totalBytes)) }
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }

    private var percent: Int? { part.map { Int($0 * 100) } }

    private func seconds(at now: Int) -> Double { Double(max(now - start, 1)) / 1_000_000_000 }

    /// Bytes per second since the step began; nil in its first second, or when it counts no bytes.
    private func rate(at now: Int) -> Int64? {
        let seconds = seconds(at: now)
        return bytes > 0 && seconds >= 1 ? Int64(Double(bytes) / seconds) : nil
    }

    private func secondsLeft(at now: Int) -> Int? {
        guard let part, part > 0 else { return nil }
        let seconds = seconds(at: now) * (1 - part) / part
        return seconds < 1e9 ? Int(seconds.rounded(.up)) : nil
    }

    func text(at now: Int) -> String {
        var text = "\(noun): \(done)" + (total.map { " of \($0)" } ?? "")
        if bytes > 0 || totalBytes != nil {
            text += ", \(sizeText(bytes))" + (totalBytes.map { " of \(sizeText($0))" } ?? "")
        }
        if let percent { text += ", \(percent) %" }
        if let rate = rate(at: now) { text += ", \(sizeText(rate))/s" }
        if let left = secondsLeft(at: now) { text += ", \(durationText(left)) left" }
        return text
    }

    func json(at now: Int) -> [UInt8] {
        var line = JSONLine()
        line.add("type", "progress")
        line.add("step", "\(noun)")
        line.add("done", done)
        line.add("total", total)
        line.add("bytes", bytes > 0 || totalBytes != nil ? bytes : nil)
        line.add("totalBytes", totalBytes)
        line.add("percent", percent)
        line.add("bytesPerSecond", rate(at: now))
        line.add("secondsLeft", secondsLeft(at: now))
        return line.ended()
    }

    /// Returns `M:SS`, or `H:MM:SS` from one hour on.
    private func durationText(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (minutes, rest) = (seconds / 60, two(seconds % 60))
        return minutes < 60
            ? "\(minutes):\(rest)" : "\(minutes / 60):\(two(minutes % 60)):\(rest)"
    }
}
