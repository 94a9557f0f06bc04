import ArgumentParser
import BackupEngines
import CommandSupport
import Eviction
import ResourceValues
import SystemCalls
import TextFormats

/// A report that prints and counts the outcome for each file to evict or download.
final class EvictionReport: Sendable {
    /// The operation that is reported.
    enum Work: Sendable {
        case evicting
        case downloading
    }

    /// What the help says about the JSON output.
    static func fields(_ work: Work) -> String {
        let (done, amount) =
            work == .evicting ? ("evicted", "freed") : ("downloaded", "stored")
        return """
            JSON FIELDS
            \(JSONFields.version)
              type: string (item; totals at the end)
              type item:
                path: string or null (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
                size: number or null
                snapshot: string or null (the full ID)
                result: string (\(done), planned, unneeded or refused)
                bytes: number, optional (\(amount))
                reason: string, optional (why it is refused)
                sentence: string, optional
              type totals:
                files: number
                bytes: number
                failedItems: number
            """
    }

    fileprivate struct Totals: Sendable {
        var files = 0
        var bytes: Int64 = 0
        var failures: Int
    }

    private let work: Work
    private let isJSON: Bool
    /// Shows the progress of the work; nil if none is shown.
    let display: Progress?
    private let totals: Monitor<Totals>

    /// - Parameter failures: the number of paths that have already failed.
    init(_ work: Work, isJSON: Bool, failures: Int, display: Progress? = nil) {
        self.work = work
        self.isJSON = isJSON
        self.display = display
        totals = Monitor(Totals(failures: failures))
    }

    /// Prints and counts the outcome for a file.
    @Sendable func note(_ outcome: EvictionOutcome) {
        totals.withLock { $0.add(outcome) }
        var buffer = OutputBuffer()
        if isJSON {
            write(json: outcome, to: &buffer)
        } else {
            write(outcome, to: &buffer)
        }
        buffer.flush()
        if case .refused(let error) = outcome.end, !isJSON || outcome.isFailure {
            Messages.write(about: outcome.path, error.sentence)
        }
    }

    /// Counts files whose repository failed as a whole, which was already reported.
    func noteFailures(_ count: Int) { totals.withLock { $0.failures += count } }

    /// Whether no file was processed successfully.
    var isNothingDone: Bool { totals.withLock { $0.files == 0 } }

    /// Prints the totals.
    ///
    /// - Throws: `ExitCode`: 1 when something failed and nothing was done, 3 when some files failed.
    func finish() throws {
        display?.end()
        let totals = totals.withLock { $0 }
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("files", totals.files)
            line.add("bytes", totals.bytes)
            line.add("failedItems", totals.failures)
            line.end(in: &buffer)
        } else {
            let verb = work == .evicting ? "freed" : "downloaded"
            buffer.append(text: "total: \(counted(totals.files, "file")), ")
            buffer.append(text: "\(sizeText(totals.bytes)) \(verb), ")
            buffer.append(text: "\(totals.failures) failed\n")
        }
        buffer.flush()
        guard totals.failures > 0 else { return }
        throw ExitCode(totals.files == 0 ? 1 : 3)
    }

    private func write(_ outcome: EvictionOutcome, to buffer: inout OutputBuffer) {
        let words: String
        switch outcome.end {
        case .done(let bytes):
            words = work == .evicting ? "evicted, \(sizeText(bytes)) freed" : "downloaded"
        case .planned: words = work == .evicting ? "would be evicted" : "would be downloaded"
        case .unneeded: words = "is not evicted"
        case .refused: return
        }
        buffer.append(path: outcome.path)
        buffer.append(text: ": \(words)\n")
        buffer.endRecord()
    }

    private func write(json outcome: EvictionOutcome, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: outcome.path.bytes)
        line.add("size", outcome.size)
        line.add("snapshot", outcome.snapshot)
        switch outcome.end {
        case .done(let bytes):
            line.add("result", work == .evicting ? "evicted" : "downloaded")
            line.add("bytes", bytes)
        case .planned: line.add("result", "planned")
        case .unneeded: line.add("result", "unneeded")
        case .refused(let error):
            line.add("result", outcome.isFailure ? "refused" : "unneeded")
            line.add("reason", error.name)
            line.add("sentence", error.sentence)
        }
        line.end(in: &buffer)
    }
}

extension EvictionReport.Totals {
    fileprivate mutating func add(_ outcome: EvictionOutcome) {
        switch outcome.end {
        case .done(let done):
            files += 1
            bytes.addSaturating(done)
        case .planned:
            files += 1
            bytes.addSaturating(outcome.size)
        case .unneeded: files += 1
        case .refused:
            if outcome.isFailure { failures += 1 }
        }
    }
}
