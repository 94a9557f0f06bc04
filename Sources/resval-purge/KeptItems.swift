import CommandSupport
import PurgePlanning
import SystemCalls
import TextFormats

/// Counts the kept items by reason, and prints each one if requested. Shared by threads.
final class KeptItems: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var buffer: [UInt8] = []
    }

    private let state = Monitor(State())
    private let form: RecordOptions.Form
    private let isListed: Bool

    /// - Parameter isListed: whether each item is printed.
    init(_ form: RecordOptions.Form, isListed: Bool) {
        self.form = form
        self.isListed = isListed
    }

    /// Counts one item, and prints it if requested.
    func note(_ path: [UInt8], _ reason: KeepReason) {
        state.withLock { state in
            state.counts[reason.name, default: 0] += 1
            guard isListed else { return }
            state.buffer += record(path, reason)
            if state.buffer.count > 32768 { flush(&state) }
        }
    }

    /// Prints what is still buffered.
    func finish() { state.withLock { flush(&$0) } }

    /// The number of items for each reason, the most frequent first.
    var counts: [(name: String, count: Int)] {
        state.withLock { $0.counts }.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    private func flush(_ state: inout State) {
        StandardOutput.shared.write(state.buffer)
        state.buffer.removeAll(keepingCapacity: true)
    }

    private func record(_ path: [UInt8], _ reason: KeepReason) -> [UInt8] {
        guard form == .json else {
            return Array("kept  \(NameEscaping.text(path)): \(reason.sentence)\n".utf8)
        }
        var line = JSONLine()
        line.add("type", "kept")
        line.add(path: path)
        line.add("reason", reason.name)
        line.add("explanation", reason.sentence)
        return line.ended()
    }
}
