import ArgumentParser
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show on one screen what applies to files and directories, and why.",
        discussion: """
            For each path: whether it is backed up, whether it may be deleted when space is short, \
            its protection class and whether anything enforces it, the marks stored on it, where \
            the content of an evicted file is, and notes about marks that are malformed, do not \
            count or contradict each other. Exits with 2 when a mark is malformed or cannot be \
            read. Programs use explain --json.

            A protection class is a declaration. The kernel enforces none, so the verdict is \
            at-rest-only where dm-crypt encrypts the volume, advisory where it does not, and \
            unknown otherwise.

            EXAMPLES
              resval status ~/build
              resval status --source ~/project ~/project/.cache
            """)

    @OptionGroup var input: PathOptions
    @OptionGroup var policy: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "Show the status of a symbolic link itself.")
    var noDereference = false

    func validate() throws { try input.requirePaths() }

    func run() throws {
        let outcome = Outcome()
        let reader = try policy.reader()
        var screen = StatusScreen(isColored: color.color.colorsStandardOutput)
        input.forEach(outcome: outcome, beforeWaiting: { screen.flush() }) { path in
            do throws(FileError) {
                let item = try reader.item(at: path.path, followsLast: !noDereference)
                let sign = try EvictionSign(of: item.path.withoutFollowing, item.status)
                screen.write(item, sign, of: Array(path.bytes))
                if item.hasTrouble { outcome.noteFailure() }
            } catch {
                Messages.write(error, at: path.bytes)
                outcome.noteFailure()
            }
        }
        screen.flush()
        try outcome.finish()
    }
}

/// Prints the status of items, a line for each thing that people ask for.
struct StatusScreen: ~Copyable {
    private let isColored: Bool
    private var buffer = OutputBuffer()

    init(isColored: Bool) { self.isColored = isColored }

    mutating func write(_ item: EffectiveItem, _ sign: EvictionSign?, of path: [UInt8]) {
        let decision = item.decision
        buffer.append(name: path)
        buffer.append(":\n")
        let isExcluded = decision.isExcluded
        write(
            "backup", isExcluded ? "excluded" : "included", decision.exclusion,
            in: isExcluded ? .yellow : .green)
        let purging =
            decision.isPurgeable
            ? "purgeable" : decision.purgeability.isProtected ? "pinned" : "kept"
        write(
            "purging", purging, decision.purgeability, in: decision.isPurgeable ? .yellow : .green)
        let protection = decision.protectionClass?.rawValue ?? "no class"
        write("protection", protection, decision.protection)
        if let verdict = ProtectionVerdict(on: item) {
            write("enforced", verdict.rawValue, ": \(verdict.sentence)")
        }
        let marks = StoredKey.allCases.compactMap { key in
            item.marks[key].value.map { "\(key.name)=\($0.text)" }
        }
        write("marks", marks.isEmpty ? "none" : marks.joined(separator: ", "))
        if item.status.kind == .regularFile { write("evicted", eviction(sign, item.path)) }
        for issue in item.issues {
            buffer.append("  note:       ")
            if issue.path != item.path {
                buffer.append(path: issue.path)
                buffer.append(": ")
            }
            buffer.append(text: "\(issue.issue.sentence)\n")
        }
        buffer.endRecord()
    }

    mutating func flush() { buffer.flush() }

    private mutating func write(
        _ name: String, _ value: String, _ reason: some PolicyReason, in color: OutputColor? = nil
    ) {
        let ancestor = reason.ancestor.map { " (\(NameEscaping.text($0.bytes)))" } ?? ""
        write(name, value, ": \(reason.sentence)\(ancestor)", in: color)
    }

    private mutating func write(
        _ name: String, _ value: String, _ rest: String = "", in color: OutputColor? = nil
    ) {
        let padding = String(repeating: " ", count: 12 - name.count - 1)
        buffer.append(text: "  \(name):\(padding)")
        buffer.append(text: value, in: isColored ? color : nil)
        buffer.append(text: "\(rest)\n")
    }

    private func eviction(_ sign: EvictionSign?, _ path: FilePath) -> String {
        let command = "resval-backup download \(ShellWord.quoted(path.bytes))"
        func content(_ record: EvictionRecord) -> String {
            "in snapshot \(record.snapshot.prefix(8)) of repository \(record.repository.prefix(8))"
        }
        switch sign {
        case nil:
            return "no"
        case .placeholder(let record)?:
            return "yes: its content is \(content(record)) (\(command))"
        case .unfinished(let record)?:
            return "interrupted: its content is \(content(record)) (\(command))"
        case .exposed(let record)?:
            return
                "yes, but programs can read it, as zeros: its content is \(content(record)) (\(command))"
        case .stale(let record)?:
            return "no, it has new content: the evicted content is \(content(record))"
        case .unrecorded?:
            return "unknown: it looks evicted, but has no record of its content"
        }
    }
}

extension EffectiveItem {
    /// Whether a mark is malformed or cannot be read.
    var hasTrouble: Bool { marks.areBroken || decision.issues.contains(where: \.isTrouble) }

    /// The issues about the item itself and about directories above, each with its path.
    var issues: [(path: FilePath, issue: PolicyIssue)] {
        decision.issues.map { (path, $0) } + ancestorIssues.map { ($0.path, $0.issue) }
    }
}
