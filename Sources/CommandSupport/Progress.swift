import ArgumentParser
import Glibc
import SystemCalls

/// The options of commands that may take a long time.
package struct ProgressOptions: ParsableArguments {
    package enum Form: String, ExpressibleByArgument, CaseIterable, Sendable {
        /// One line that is rewritten, on a terminal only.
        case auto
        case never
        /// One JSON object per line on standard error, terminal or not.
        case json
    }

    @Option(
        help: ArgumentHelp("Show progress on standard error.", valueName: "form"))
    package var progress = Form.auto

    package init() {}

    /// The form of a command without the option.
    package static var automatic: ProgressOptions {
        var options = ProgressOptions()
        options.progress = .auto
        return options
    }

    /// Begins to show progress. A terminal that cannot clear a line (`TERM=dumb`) counts as none.
    ///
    /// - Parameter noun: the items counted, in the plural, such as `files`.
    package func begin(counting noun: StaticString) -> Progress {
        let progress = begin(noun)
        progress.advance(by: 0)
        return progress
    }

    /// Begins to show progress with a step that counts nothing, as ``begin(counting:)`` does.
    ///
    /// - Parameter step: what is done, such as `reading the snapshot`.
    package func begin(_ step: StaticString) -> Progress {
        let shown: Progress.Form =
            switch progress {
            case .json: .json
            case .auto where StandardError.canRewriteLine: .line
            case .auto, .never: .none
            }
        return Progress(shown, step)
    }
}

/// Shows the progress of long work on standard error, a few times a second. Threads may share one.
///
/// After its first second, work shows each step at once, also one that counts nothing for a while.
package final class Progress: Sendable {
    enum Form { case none, line, json }

    private struct State {
        var step: ProgressStep
        /// When the step is shown again, in nanoseconds; 0 until it was shown.
        var nextDisplay = 0
        var hasEnded = false
    }

    private let form: Form
    private let state: Monitor<State>
    /// Before this time nothing is shown, in nanoseconds: short work shows no progress.
    private let firstDisplay: Int

    init(_ form: Form, _ step: StaticString) {
        let now = Self.now()
        self.form = form
        firstDisplay = now + 1_000_000_000
        state = Monitor(State(step: ProgressStep(noun: step, start: now)))
        if form != .none { startClock() }
    }

    /// Counts items as done; cheap enough to be called every few hundred items of a hot loop.
    package func advance(by items: Int = 1) { update { $0.done = ($0.done ?? 0) + items } }

    /// Sets what is done of a step, for work that counts by itself.
    ///
    /// - Parameters:
    ///   - noun: the items counted, in the plural; another one than before begins the next step.
    ///   - done: the number of items; nil where only bytes are known.
    ///   - total: the number of items altogether, as far as it is known; nil where unknown.
    ///   - totalBytes: their size in bytes; nil where unknown.
    package func set(
        _ noun: StaticString, done: Int?, total: Int?, bytes: Int64, totalBytes: Int64?
    ) {
        update(noun) { step in
            step.done = done
            step.total = total
            step.bytes = bytes
            step.totalBytes = totalBytes
        }
    }

    /// Clears the progress line. Nothing more is shown until another step begins.
    package func end() {
        guard form != .none else { return }
        state.withLock { $0.hasEnded = true }
        if form == .line { StandardError.showProgress("") }
    }

    private func update(_ noun: StaticString? = nil, _ change: (inout ProgressStep) -> Void) {
        guard form != .none else { return }
        let now = Self.now()
        state.withLock { state in
            if let noun, !state.step.counts(noun) {
                state = State(step: ProgressStep(noun: noun, start: now))
            }
            change(&state.step)
            show(&state, at: now)
        }
    }

    /// Shows the step if that is due.
    private func show(_ state: inout State, at now: Int) {
        guard !state.hasEnded, now >= max(firstDisplay, state.nextDisplay) else { return }
        state.nextDisplay = now + 200_000_000
        switch form {
        case .none: break
        case .line: StandardError.showProgress(state.step.text(at: now))
        case .json: StandardError.write(state.step.json(at: now))
        }
    }

    /// Starts a thread that shows each second what is done, for steps that report nothing by
    /// themselves for a while. Without it, progress is shown only when something is counted.
    private func startClock() {
        let thread = startThread { [weak self] in
            while true {
                // A little more than a second, which the coarse clock may not have reached.
                var time = timespec(tv_sec: 1, tv_nsec: 20_000_000)
                nanosleep(&time, nil)
                guard let self else { return }
                self.state.withLock { self.show(&$0, at: Self.now()) }
            }
        }
        thread?.detach()
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
    /// The number of items done; nil where none are counted.
    var done: Int?
    var total: Int?
    var bytes: Int64 = 0
    var totalBytes: Int64?

    init(noun: StaticString, start: Int) {
        self.noun = noun
        self.start = start
    }

    /// Whether this step counts these items.
    func counts(_ other: StaticString) -> Bool {
        noun.withUTF8Buffer { noun in other.withUTF8Buffer { noun.elementsEqual($0) } }
    }

    /// The part that is done, from 0 to 1: of the bytes if their total is known, else of the items.
    private var part: Double? {
        if let totalBytes, totalBytes > 0 { return min(1, Double(bytes) / Double(totalBytes)) }
        guard let done, let total, total > 0 else { return nil }
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
        var facts: [String] = []
        if let done { facts.append("\(done)" + (total.map { " of \($0)" } ?? "")) }
        if bytes > 0 || totalBytes != nil {
            facts.append(sizeText(bytes) + (totalBytes.map { " of \(sizeText($0))" } ?? ""))
        }
        if let percent { facts.append("\(percent) %") }
        if let rate = rate(at: now) { facts.append("\(sizeText(rate))/s") }
        if let left = secondsLeft(at: now) { facts.append("\(durationText(left)) left") }
        return facts.isEmpty ? "\(noun)" : "\(noun): " + facts.joined(separator: ", ")
    }

    func json(at now: Int) -> [UInt8] {
        var line = JSONLine.output()
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
