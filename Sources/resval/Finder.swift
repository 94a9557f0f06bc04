import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

enum FindContext: Sendable {
    case root(Decision)
    /// The item is an entry of a directory that passes this on.
    case entry(PolicyContext)
}

struct Finder: CommandVisitor {
    /// Nil where only stored marks are looked at.
    typealias Context = FindContext?

    var reporter: WalkReporter
    let filter: FindFilter
    /// The reader of effective values; nil to look at stored marks.
    let reader: EffectiveValueReader?
    /// Where relative paths begin. A thread of the walk may have a working directory of its own.
    let directory: FilePath
    let results: FoundItems
    private let lines = ThreadOutput()

    func look(
        at entry: borrowing TreeEntry, in context: FindContext?
    ) -> Descent<FindContext?> {
        guard let reader, let context else {
            if let marks = reporter.storedMarks(of: entry), filter.fits(marks) {
                write(entry, marks, nil)
            }
            return .descend(nil)
        }
        let marks = reporter.marks(of: entry, by: reader.markReader)
        let decision = decide(entry, marks, in: context, reader.policy)
        if !marks.foreign.isReadable { reporter.report(decision.issues, of: entry) }
        if filter.fits(marks.native, decision) { write(entry, marks.native, decision) }
        return .descend(.entry(decision.contextForEntries))
    }

    func flush() { lines.buffer.flush() }

    private func write(_ entry: borrowing TreeEntry, _ marks: Marks, _ decision: Decision?) {
        var size: Int64?
        if results.showsSize, let status = reporter.status(of: entry), status.kind == .regularFile {
            size = status.allocatedSize
        }
        results.write(
            FoundItem(
                path: entry.pathBytes, kind: entry.kind, marks: marks, decision: decision,
                size: size),
            to: &lines.buffer)
    }

    private func decide(
        _ entry: borrowing TreeEntry, _ marks: ItemMarks, in context: FindContext,
        _ policy: StoragePolicy
    ) -> Decision {
        switch context {
        case .root(let decision):
            return decision
        case .entry(let context):
            // Without a status, the number of links and whether it is a mount point are not known,
            // and the item stays in backups.
            let status = try? entry.status()
            return policy.decide(
                marks.native, kind: entry.kind, in: context, foreignMarks: marks.foreign,
                name: entry.nameBytes, path: directory.pushing(entry.path),
                linkCount: status?.linkCount,
                isMountRoot: status?.isMountRoot ?? true)
        }
    }
}

struct FoundItem {
    let path: [UInt8]
    let kind: FileKind
    let marks: Marks
    /// The effective values to print; nil to print the stored marks.
    let decision: Decision?
    /// The allocated size of a regular file in bytes, if it is wanted.
    let size: Int64?
}

extension FoundItem {
    /// The marks that the item has, or the values that apply to it with what excludes it, in words.
    fileprivate var marksText: String {
        var texts = StoredKey.allCases.compactMap { key in
            let value = decision.map { $0.value(for: key) } ?? marks[key].value
            return value.map { "\(key.name)=\($0.text)" }
        }
        texts += marks.brokenKeys.map { "\($0.name) is malformed or unreadable" }
        if let exclusion = decision?.exclusion, exclusion.cause.isExcluded {
            texts.append(exclusion.sentence)
        }
        return texts.joined(separator: ", ")
    }
}

/// Prints what all threads find: at once, or sorted at the end.
final class FoundItems: Sendable {
    let showsSize: Bool
    private let form: RecordOptions.Form
    private let isColored: Bool
    /// Whether people read the lines, which then say why an item was found.
    private let saysWhy: Bool
    /// What is printed at the end; nil to print at once.
    private let kept: Monitor<[(path: [UInt8], record: [UInt8])]>?

    /// - Parameter isColored: whether directories have a colour.
    init(form: RecordOptions.Form, showsSize: Bool, isSorted: Bool, isColored: Bool) {
        self.form = form
        self.showsSize = showsSize
        self.isColored = isColored
        saysWhy = form == .lines && StandardOutput.shared.isTerminal
        kept = isSorted ? Monitor([]) : nil
    }

    func write(_ item: FoundItem, to buffer: inout OutputBuffer) {
        let record = record(of: item)
        if let kept {
            kept.withLock { $0.append((item.path, record)) }
        } else {
            buffer.append(bytes: record)
            buffer.endRecord()
        }
    }

    func finish() {
        let sorted = (kept?.withLock { $0 } ?? []).sorted {
            $0.path.lexicographicallyPrecedes($1.path)
        }
        var buffer = OutputBuffer()
        for item in sorted {
            buffer.append(bytes: item.record)
            buffer.endRecord()
        }
        buffer.flush()
    }

    private func record(of item: FoundItem) -> [UInt8] {
        if form == .json { return object(item) }
        var record = OutputBuffer()
        if showsSize {
            record.append(text: item.size.map { "\($0)" } ?? "-")
            record.append("\t")
        }
        record.append(in: isColored && item.kind == .directory ? .blue : nil) { record in
            item.path.withUnsafeBufferPointer { record.append(name: $0, in: form) }
        }
        if saysWhy { record.append(text: ": \(item.marksText)") }
        record.append(byte: form == .nulEnded ? 0 : UInt8(ascii: "\n"))
        return record.bytes
    }

    private func object(_ item: FoundItem) -> [UInt8] {
        var line = JSONLine.output()
        line.add(path: item.path)
        line.add("kind", item.kind.rawValue)
        if let decision = item.decision {
            for key in StoredKey.allCases { line.add(key.name, decision.value(for: key)) }
            line.add("broken", strings: item.marks.brokenKeys.map(\.name))
            line.add("exclusionReason", decision.exclusion.name)
            line.add("exclusionSentence", decision.exclusion.sentence)
            line.add("purgeabilityReason", decision.purgeability.name)
            line.add("protectionReason", decision.protection.name)
        } else {
            line.add(item.marks)
        }
        if showsSize { line.add("fileAllocatedSize", item.size) }
        return line.ended()
    }
}
