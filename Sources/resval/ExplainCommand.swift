import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemPackage

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what applies to files and directories, and why.",
        discussion: """
            For each path: whether it is excluded from backups, whether it may be deleted when \
            space is short, and its protection class, each with the reason and the directory the \
            value comes from; the marks stored on it, where the content of an evicted file is, and \
            notes on marks that are malformed, do not count or contradict each other. Exits with 2 \
            when one is malformed or cannot be read. get --effective prints the values alone.

            EXAMPLES
              resval explain ~/build/a.o
              resval explain --source ~/project ~/project/.cache
              resval explain --json ~/.cache | jq .exclusion.reason
            """)

    @OptionGroup var input: PathOptions

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var policy: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    func validate() throws { try input.requirePaths() }

    func run() throws {
        let reader = try policy.reader { $0.heeding(PurgePlaces($1)) }
        var output = Explanation(
            isJSON: isJSON, isColored: !isJSON && color.color.colorsStandardOutput)
        try input.run(beforeWaiting: { output.flush() }) { path, outcome throws(FileError) in
            do throws(FileError) {
                let item = try reader.item(at: path.path)
                let sign = try EvictionSign(of: item.path.withoutFollowing, item.status)
                output.write(ExplainedItem(path: Array(path.bytes), item: item, sign: sign))
                if !item.decision.isExcluded { reportUnaskedSettings() }
                if item.hasTrouble { outcome.noteFailure() }
            } catch {
                output.write(error, of: Array(path.bytes))
                throw error
            }
        }
    }
}

struct ExplainedItem {
    let path: [UInt8]
    let item: EffectiveItem
    /// The sign of an eviction; nil for an ordinary item.
    let sign: EvictionSign?
}

struct Explanation: ~Copyable {
    let isJSON: Bool
    let isColored: Bool
    var buffer = OutputBuffer()

    mutating func write(_ explained: ExplainedItem) {
        isJSON ? writeObject(explained) : writeLines(explained)
        buffer.endRecord()
    }

    /// Prints in JSON that an item could not be read.
    mutating func write(_ error: FileError, of path: [UInt8]) {
        guard isJSON else { return }
        var line = JSONLine.output()
        line.add(path: path)
        line.add("error", error.code.description)
        line.end(in: &buffer)
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeLines(_ explained: ExplainedItem) {
        let (item, decision) = (explained.item, explained.item.decision)
        buffer.append(name: explained.path)
        buffer.append(":\n")
        write("isExcludedFromBackup", "\(decision.isExcluded)", decision.exclusion)
        write("isPurgeable", "\(decision.isPurgeable)", decision.purgeability)
        let protection = decision.protectionClass?.rawValue ?? "no class"
        write("fileProtection", protection, decision.protection)
        if let verdict = ProtectionVerdict(on: item) {
            buffer.append(text: "  enforced: \(verdict.rawValue): \(verdict.sentence)\n")
        }
        let marks = StoredKey.allCases.compactMap { key in
            item.marks[key].value.map { "\(key.name)=\($0.text)" }
        }
        if !marks.isEmpty {
            buffer.append(text: "  marks: \(marks.joined(separator: ", "))\n")
        }
        if let sign = explained.sign {
            buffer.append(text: "  evicted: \(sign.words(of: item))\n")
        }
        for (path, issue) in item.issues {
            buffer.append("  note: ")
            if path != item.path {
                buffer.append(path: path)
                buffer.append(": ")
            }
            buffer.append(text: "\(issue.sentence)\n")
        }
    }

    private mutating func write(_ key: String, _ value: String, _ reason: some PolicyReason) {
        buffer.append(text: "  \(key): ")
        buffer.append(text: value, in: isColored ? OutputColor(value: value) : nil)
        buffer.append(text: ": \(reason.sentence)")
        if let ancestor = reason.ancestor {
            buffer.append(" (")
            buffer.append(path: ancestor)
            buffer.append(")")
        }
        buffer.append("\n")
    }

    private mutating func writeObject(_ explained: ExplainedItem) {
        let (item, decision) = (explained.item, explained.item.decision)
        var line = JSONLine.output()
        line.add(path: explained.path)
        line.add("error", String?.none)
        line.add("exclusion") { line in
            line.add("value", decision.isExcluded)
            line.add("marker", decision.exclusion.cause.marker?.rawValue)
            line.add(reason: decision.exclusion)
        }
        line.add("purgeability") { line in
            line.add("value", decision.isPurgeable)
            line.add(reason: decision.purgeability)
        }
        line.add("protection") { line in
            line.add("value", decision.protectionClass?.rawValue)
            line.add(reason: decision.protection)
            line.add("verdict", ProtectionVerdict(on: item)?.rawValue)
        }
        line.add("issues", objects: item.issues) { entry, line in
            line.add("name", entry.issue.name)
            line.add("sentence", entry.issue.sentence)
            line.add(path: entry.path.bytes)
        }
        if let sign = explained.sign {
            line.add("evicted") { line in
                line.add("state", sign.name)
                line.add("repository", sign.record?.repository)
                line.add("snapshot", sign.record?.snapshot)
            }
        }
        line.end(in: &buffer)
    }
}

extension OutputColor {
    /// The colour of a value; nil for other values than true and false.
    fileprivate init?(value: String) {
        switch value {
        case "true": self = .yellow
        case "false": self = .green
        default: return nil
        }
    }
}

extension JSONLine {
    fileprivate mutating func add(reason: some PolicyReason) {
        add("reason", reason.name)
        add("sentence", reason.sentence)
        if let ancestor = reason.ancestor {
            add("ancestor", "ancestorBase64", ancestor.bytes)
        } else {
            add("ancestor", String?.none)
        }
    }
}

extension EvictionSign {
    fileprivate var name: String {
        switch self {
        case .placeholder: "placeholder"
        case .unfinished: "unfinished"
        case .exposed: "exposed"
        case .stale: "stale"
        case .unrecorded: "unrecorded"
        }
    }

    /// The state of a file, where its content is, and how it comes back.
    fileprivate func words(of item: EffectiveItem) -> String {
        guard let record else {
            return "unknown: it looks evicted, but has no record of its content"
        }
        let content =
            "content is in snapshot \(record.snapshot.prefix(8)) of repository "
            + "\(record.repository.prefix(8))"
        let file = ShellWord.quoted(item.path.bytes)
        let its = "its \(content) (resval-backup download \(file))"
        return switch self {
        case .unfinished where item.status.permissions == 0 && !record.hasTime(of: item.status):
            // A download wants the time that the record says.
            "yes, but its time was changed: its \(content) (touch -m -d \(record.modified.rfc3339) "
                + "\(file) && resval-backup download \(file))"
        case .placeholder, .unrecorded: "yes: \(its)"
        case .unfinished: "interrupted: \(its)"
        case .exposed: "yes, but programs can read it, as zeros: \(its)"
        case .stale: "no, it has new content: the evicted \(content)"
        }
    }
}

extension EffectiveItem {
    /// Whether a mark is malformed or cannot be read.
    fileprivate var hasTrouble: Bool {
        marks.areBroken || decision.issues.contains(where: \.isTrouble)
    }

    /// The issues about the item itself and about directories above, each with its path.
    fileprivate var issues: [(path: FilePath, issue: PolicyIssue)] {
        decision.issues.map { (path, $0) } + ancestorIssues.map { ($0.path, $0.issue) }
    }
}
