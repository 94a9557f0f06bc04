import ArgumentParser
import Glibc
import SystemCalls

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
        /// The terminal's width when the step was shown, in columns.
        var width = 0
        var hasEnded = false
    }

    private let form: Form
    private let state: Monitor<State>
    /// Before this time nothing is shown, in nanoseconds: short work shows no progress.
    private let firstDisplay: Int

    init(_ form: Form, _ step: StaticString) {
        self.form = form
        firstDisplay = Self.now() + 1_000_000_000
        state = Monitor(State(step: ProgressStep(noun: step)))
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
                state = State(step: ProgressStep(noun: noun))
            }
            change(&state.step)
            state.step.noteFlow(at: now)
            show(&state, at: now)
        }
    }

    /// Shows the step if that is due, also because the terminal has another width now.
    private func show(_ state: inout State, at now: Int) {
        guard !state.hasEnded, now >= firstDisplay else { return }
        let width = form == .line ? StandardError.columnCount : 0
        guard now >= state.nextDisplay || width != state.width else { return }
        state.nextDisplay = now + 200_000_000
        state.width = width
        switch form {
        case .none: break
        // The last column stays free: a line that fills it would wrap.
        case .line: StandardError.showProgress(state.step.text(at: now, width: width - 1))
        case .json: StandardError.write(state.step.json(at: now))
        }
    }

    /// Starts a thread that shows each second what is done, for steps that report nothing by
    /// themselves for a while, and at once after the terminal changed its width.
    private func startClock() {
        let thread = startThread { [weak self] in
            var tick = 0
            while true {
                // A little more than a fifth of a second, which the coarse clock may not have reached.
                var time = timespec(tv_sec: 0, tv_nsec: 204_000_000)
                nanosleep(&time, nil)
                guard let self else { return }
                tick += 1
                self.state.withLock { state in
                    let isResized =
                        self.form == .line && state.width != StandardError.columnCount
                    if tick % 5 == 0 || isResized { self.show(&state, at: Self.now()) }
                }
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
    /// The number of items done; nil where none are counted.
    var done: Int?
    var total: Int?
    var bytes: Int64 = 0
    var totalBytes: Int64?
    /// When something was done for the first time, and how much: before that, nothing says how fast it
    /// goes.
    var flow: (time: Int, bytes: Int64, part: Double)?

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

    mutating func noteFlow(at now: Int) {
        if flow == nil, bytes > 0 || done ?? 0 > 0 { flow = (now, bytes, part ?? 0) }
    }

    /// The seconds since something was done for the first time; nil in the first one.
    private func flowSeconds(at now: Int) -> Double? {
        guard let flow, now - flow.time >= 1_000_000_000 else { return nil }
        return Double(now - flow.time) / 1_000_000_000
    }

    /// Bytes per second; nil when it counts no bytes.
    private func rate(at now: Int) -> Int64? {
        guard let seconds = flowSeconds(at: now), let flow, bytes > flow.bytes else { return nil }
        return Int64(Double(bytes - flow.bytes) / seconds)
    }

    /// nil where less than three seconds or a thousandth say how fast it goes.
    private func secondsLeft(at now: Int) -> Int? {
        guard let seconds = flowSeconds(at: now), seconds >= 3, let flow, let part,
            part - flow.part >= 0.001
        else { return nil }
        return Int((seconds * (1 - part) / (part - flow.part)).rounded(.up))
    }

    /// Returns the step in words, without what matters least where the width in columns does not
    /// suffice.
    func text(at now: Int, width: Int = .max) -> String {
        var facts: [(worth: Int, text: String)] = []
        if let done { facts.append((4, "\(done)" + (total.map { " of \($0)" } ?? ""))) }
        if bytes > 0 || totalBytes != nil {
            facts.append((2, sizeText(bytes) + (totalBytes.map { " of \(sizeText($0))" } ?? "")))
        }
        if let percent { facts.append((5, percent < 100 ? "\(percent) %" : "finishing")) }
        if let rate = rate(at: now) { facts.append((1, "\(sizeText(rate))/s")) }
        if let left = secondsLeft(at: now), left > 0 {
            facts.append((3, "\(durationText(left)) left"))
        }
        while true {
            let text = ["\(noun)", facts.map(\.text).joined(separator: ", ")]
                .filter { !$0.isEmpty }.joined(separator: ": ")
            guard text.count > width else { return text }
            guard let least = facts.indices.min(by: { facts[$0].worth < facts[$1].worth }) else {
                return String(text.prefix(max(width, 0)))
            }
            facts.remove(at: least)
        }
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
