import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// A directory that a tool re-creates.
struct Suggestion: Sendable {
    let root: SuggestionRoot
    let shownPath: [UInt8]
    let identity: FileIdentity
    let recreation: Recreation
    let size: TreeSize

    var paths: ChangeBatch.Paths { root.walked.paths(shown: shownPath) }

    /// Opens the directory as a reference, below its ROOT and through no symbolic link.
    ///
    /// - Throws: ``FileError``: `changed` when it is no longer what was found.
    func open() throws(FileError) -> OpenDirectory {
        let names = shownPath.dropFirst(root.walked.given.bytes.count)
            .split(separator: UInt8(ascii: "/")).map { Array($0) }
        let path = FilePath(bytes: shownPath)
        let directory = try calls(on: path, FileError.opening) { () throws(Errno) in
            try root.directory.openDirectory(along: names)
        }
        let found = try directory.descriptor.named(path).fileStatus().identity
        let marks = try root.reader.markReader.marks(
            of: directory.descriptor, kind: .directory)
        guard found == identity, marks.native[.isExcludedFromBackup] == .unset,
            marks.foreign.recreation == recreation
        else {
            throw FileError(
                code: .changed, message: "is not the directory that was found any more",
                advice: "run again", path: path)
        }
        return directory
    }

    func isConfirmed() -> Bool {
        Messages.confirm(
            about: shownPath, "\(sizeText(size.total)), \(sentence): it would be excluded")
    }

    func write(to buffer: inout OutputBuffer, in form: RecordOptions.Form) {
        switch form {
        case .json:
            var line = JSONLine.output()
            line.add("type", "suggestion")
            line.add(path: shownPath)
            line.add("fileAllocatedSize", size.total)
            line.add("proof", recreation.proof)
            line.add("tool", recreation.tool)
            line.add("reason", recreation.reason)
            line.end(in: &buffer)
        case .nulEnded:
            buffer.append(bytes: shownPath)
            buffer.endRecord(in: form)
        case .lines:
            buffer.append(text: sizeText(size.total).padded(to: 10) + "  ")
            buffer.append(name: shownPath)
            buffer.append(text: ": \(sentence)\n")
            buffer.endRecord()
        }
    }

    private var sentence: String { "re-creatable: \(recreation.proof) (\(recreation.tool))" }
}

final class SuggestionRoot: Sendable {
    let walked: WalkedRoot
    let reader: EffectiveValueReader
    /// The ROOT, as the SOURCE of a backup.
    let item: EffectiveItem
    let directory: OpenDirectory

    init(_ root: PathArgument, _ policy: StoragePolicy) throws(FileError) {
        reader = try EffectiveValueReader(policy, source: root.path)
        item = try reader.item(at: root.path)
        walked = WalkedRoot(given: root.path, real: item.path)
        directory = try calls(on: root.path, FileError.opening) { () throws(Errno) in
            try OpenDirectory(at: root.path)
        }
    }
}

final class SuggestionList: Sendable {
    private let all = TreeSize(in: nil)
    private let suggestions: Monitor<[Suggestion]> = Monitor([])

    func newSize() -> TreeSize { TreeSize(in: all) }

    func append(_ suggestion: Suggestion) { suggestions.withLock { $0.append(suggestion) } }

    /// Completes ``total``, after the last walk.
    func addUp() { TreeSize.addUp(suggestions.withLock { $0 }.map(\.size)) }

    var total: Int64 { all.total }

    var sorted: [Suggestion] {
        suggestions.withLock { $0 }.map { ($0, $0.size.total) }.sorted { first, second in
            first.1 == second.1
                ? first.0.shownPath.lexicographicallyPrecedes(second.0.shownPath)
                : first.1 > second.1
        }.map(\.0)
    }
}

enum SuggestionContext: Sendable {
    case root(Decision)
    /// The item is an entry of a directory that backups include.
    case entry(PolicyContext)
    /// The item is in a directory that is suggested, and is added to its size.
    case inside(TreeSize)
}

struct SuggestionVisitor: CommandVisitor {
    typealias Context = SuggestionContext

    var reporter: WalkReporter
    let root: SuggestionRoot
    let list: SuggestionList

    func look(
        at entry: borrowing TreeEntry, in context: SuggestionContext
    ) -> Descent<SuggestionContext> {
        let decision: Decision
        switch context {
        case .inside(let size):
            if let status = reporter.status(of: entry) { size.add(status) }
            return .descend(context)
        case .root(let known): decision = known
        case .entry(let context):
            guard entry.kind == .directory || entry.kind == .unknown else { return .skip }
            decision = decide(entry, in: context)
        }
        guard decision.isExcluded else { return .descend(.entry(decision.contextForEntries)) }
        guard case .recreatable(let recreation) = decision.exclusion.ownCause,
            let status = reporter.status(of: entry)
        else {
            // What is in a location that is not backed up may be outside of it again.
            return decision.mayHoldIncludedItems
                ? .descend(.entry(decision.contextForEntries)) : .skip
        }
        let size = list.newSize()
        size.add(status)
        list.append(
            Suggestion(
                root: root, shownPath: entry.pathBytes, identity: status.identity,
                recreation: recreation, size: size))
        return .descend(.inside(size))
    }

    private func decide(
        _ entry: borrowing TreeEntry, in context: PolicyContext
    ) -> Decision {
        let marks = reporter.marks(of: entry, by: root.reader.markReader)
        let decision = root.reader.policy.decide(
            marks.native, kind: entry.kind, in: context, foreignMarks: marks.foreign,
            name: entry.nameBytes, path: entry.path, linkCount: nil,
            isMountRoot: reporter.status(of: entry)?.isMountRoot ?? true)
        if !marks.foreign.isReadable { reporter.report(decision.issues, of: entry) }
        return decision
    }
}
