import CommandSupport
import FileTree
import ResourceValues

/// Dumps the marks below a directory; each thread of the walk has one.
struct DumpVisitor: TreeVisitor {
    private let tally: DumpTally
    private let lines = Lines()
    private var reporter: WalkReporter
    private var count = 0

    /// A reference to the buffer, which is not copyable while visitors are.
    private final class Lines {
        var buffer = OutputBuffer()
    }

    init(_ tally: DumpTally, _ progress: Progress) {
        self.tally = tally
        reporter = WalkReporter(tally.outcome, progress)
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        reporter.count()
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown else {
            return .descend(())
        }
        do throws(FileError) {
            let marks = try entry.marks()
            reporter.report(brokenIn: marks, at: entry)
            if !marks.withoutBroken.isEmpty { write(marks.withoutBroken, of: entry) }
        } catch {
            reporter.report(entry: error)
        }
        return .descend(())
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        lines.buffer.flush()
        tally.add(count)
    }

    private mutating func write(_ marks: Marks, of entry: borrowing TreeEntry) {
        var path: [UInt8] = []
        entry.appendPath(to: &path)
        let relative = path.dropFirst(tally.prefixLength).drop { $0 == UInt8(ascii: "/") }
        guard let place = DumpPath(relative.isEmpty ? Array(".".utf8)[...] : relative) else {
            return reporter.report(
                FileError(code: .other, message: "the path cannot be dumped", path: entry.path))
        }
        count += 1
        lines.buffer.append(bytes: DumpRecord.item(place, marks).line)
        lines.buffer.endRecord()
    }
}

extension Marks {
    /// The marks without those that are malformed or unreadable.
    fileprivate var withoutBroken: Marks {
        Marks(
            isExcludedFromBackup: isExcludedFromBackup.isBroken ? .unset : isExcludedFromBackup,
            isPurgeable: isPurgeable.isBroken ? .unset : isPurgeable,
            fileProtection: fileProtection.isBroken ? .unset : fileProtection)
    }
}
