import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage
import TextFormats

/// A report that prints and counts the outcome for each file to evict or download.
final class EvictionReport: Sendable {
    /// The operation that is reported.
    enum Work: Sendable {
        case evicting
        case downloading

        fileprivate var done: String { self == .evicting ? "evicted" : "downloaded" }
    }

    /// What the help says about the JSON output.
    static func fields(_ work: Work) -> String {
        """
        JSON FIELDS
        \(JSONFields.version)
          type: string (item; totals at the end)
          type item:
            path: string or null (null when it is not UTF-8)
            pathBase64: string, optional (the bytes when path is null)
            size: number or null
            snapshot: string or null (the full ID)
            result: string (\(work.done), planned, unneeded or refused)
            bytes: number, optional (\(work == .evicting ? "freed" : "stored"))
            reason: string, optional (why it is refused)
            sentence: string, optional
          type totals:
            files: number
            bytes: number
            failedItems: number
        """
    }

    private let work: Work
    private let isJSON: Bool
    private let display: Progress
    private let totals: Monitor<(files: Int, bytes: Int64, failures: Int)>

    /// - Parameter failures: the number of paths that have already failed.
    init(_ work: Work, isJSON: Bool, failures: Int, display: Progress) {
        self.work = work
        self.isJSON = isJSON
        self.display = display
        totals = Monitor((0, 0, failures))
    }

    /// Returns what evicts or downloads files and is reported here.
    func work(
        in engine: Restic, _ state: EvictionDirectory, isDryRun: Bool
    ) -> EvictionWork {
        EvictionWork(
            engine, state, isDryRun: isDryRun, shouldStop: { StopRequest.isMade },
            progress: reporter(display), report: note)
    }

    /// Prints and counts the outcome for a file.
    @Sendable func note(_ outcome: EvictionOutcome) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: outcome.path.bytes)
        line.add("size", outcome.size)
        line.add("snapshot", outcome.snapshot)
        var text: String?
        var bytes: Int64 = 0
        switch outcome.end {
        case .done(let done):
            line.add("result", work.done)
            line.add("bytes", done)
            text = work.done + (work == .evicting ? ", \(sizeText(done)) freed" : "")
            bytes = done
        case .planned:
            line.add("result", "planned")
            text = "would be \(work.done)"
            bytes = outcome.size
        case .unneeded:
            line.add("result", "unneeded")
            text = "is not evicted"
        case .refused(let error):
            line.add("result", outcome.isFailure ? "refused" : "unneeded")
            line.add("reason", error.name)
            line.add("sentence", error.sentence)
            if !isJSON || outcome.isFailure { Messages.write(about: outcome.path, error.sentence) }
        }
        totals.withLock {
            if text != nil { $0.files += 1 }
            $0.bytes.addSaturating(bytes)
            if outcome.isFailure { $0.failures += 1 }
        }
        var buffer = OutputBuffer()
        if isJSON {
            line.end(in: &buffer)
        } else if let text {
            buffer.append(path: outcome.path)
            buffer.append(text: ": \(text)\n")
            buffer.endRecord()
        }
        buffer.flush()
    }

    /// Counts files whose repository failed as a whole, which was already reported.
    func noteFailures(_ count: Int) { totals.withLock { $0.failures += count } }

    /// Whether no file was processed successfully.
    var isNothingDone: Bool { totals.withLock { $0.files == 0 } }

    /// Prints the totals.
    ///
    /// - Throws: `ExitCode`: 1 when something failed and nothing was done, 3 when some files failed.
    func finish() throws {
        display.end()
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
}
