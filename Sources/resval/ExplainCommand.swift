import ArgumentParser
import CommandSupport
import EffectiveValues
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
            value comes from; then marks that are malformed, do not count or contradict each \
            other, whether a file is evicted, and whether Dropbox does not synchronize an item, which \
            says nothing about backups. Exits with 2 when one is malformed or cannot be read.

            JSON FIELDS
            \(JSONFields.item)
              error: string or null (with one, only the path is known)
              exclusion.value: boolean, optional
              exclusion.marker: string or null, optional (the kind of mark that excludes)
              exclusion.reason: string, optional
              exclusion.sentence: string, optional
              exclusion.ancestor: string or null, optional (where the value comes from)
              exclusion.ancestorBase64: string, optional
              purgeability.value: boolean, optional
              purgeability.reason: string, optional
              purgeability.sentence: string, optional
              purgeability.ancestor: string or null, optional
              purgeability.ancestorBase64: string, optional
              protection.value: string or null, optional
              protection.reason: string, optional
              protection.sentence: string, optional
              protection.ancestor: string or null, optional
              protection.ancestorBase64: string, optional
              protection.verdict: string or null, optional (how far it is enforced)
              issues[].name: string, optional
              issues[].sentence: string, optional
              issues[].path: string or null, optional
              issues[].pathBase64: string, optional
              evicted.repository: string, optional (only of an evicted file)
              evicted.snapshot: string, optional
              isIgnoredByDropbox: boolean, optional (only when true)

            EXAMPLES
              resval explain ~/build/a.o
              resval explain --source ~/project ~/project/.cache
              resval explain --json ~/.cache | jq .exclusion.reason
            """)

    @OptionGroup var input: PathOptions
    @OptionGroup var policy: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @Flag(help: "Explain a symbolic link itself.")
    var noDereference = false

    func validate() throws { try input.requirePaths() }

    func run() throws {
        let outcome = Outcome()
        let reader = try policy.reader()
        var output = Explanation(
            isJSON: isJSON, isColored: color.color.colorsStandardOutput)
        input.forEach(outcome: outcome, beforeWaiting: { output.flush() }) { path in
            do throws(FileError) {
                let item = try reader.item(at: path.path, followsLast: !noDereference)
                let location = item.path.withoutFollowing
                output.write(
                    item, try EvictionSign(of: location, item.status),
                    isIgnoredByDropbox: try ForeignAttribute.isIgnoredByDropbox(location),
                    of: Array(path.bytes))
                if item.hasTrouble { outcome.noteFailure() }
            } catch {
                output.write(error, of: path.bytes)
                outcome.noteFailure()
            }
        }
        output.flush()
        try outcome.finish()
    }
}

/// Prints effective values of items with their reasons.
struct Explanation: ~Copyable {
    private let isJSON: Bool
    private let isColored: Bool
    private var buffer = OutputBuffer()

    init(isJSON: Bool, isColored: Bool) {
        self.isJSON = isJSON
        self.isColored = isColored
    }

    mutating func write(
        _ item: EffectiveItem, _ sign: EvictionSign?, isIgnoredByDropbox: Bool, of path: [UInt8]
    ) {
        let record = sign.flatMap { $0.isEvicted ? $0.record : nil }
        if isJSON {
            writeObject(item, record, isIgnoredByDropbox, path)
        } else {
            writeLines(item, record, isIgnoredByDropbox, path)
        }
    }

    /// Reports an error on standard error; in JSON also as an object.
    mutating func write(_ error: FileError, of path: UnsafeBufferPointer<UInt8>) {
        if isJSON {
            var line = JSONLine.output()
            line.add(path: Array(path))
            line.add("error", error.code.description)
            line.end(in: &buffer)
        }
        Messages.write(error, at: path)
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeLines(
        _ item: EffectiveItem, _ evicted: EvictionRecord?, _ isIgnoredByDropbox: Bool,
        _ path: [UInt8]
    ) {
        let decision = item.decision
        buffer.append(name: path)
        buffer.append(":\n")
        write("isExcludedFromBackup", "\(decision.isExcluded)", decision.exclusion)
        write("isPurgeable", "\(decision.isPurgeable)", decision.purgeability)
        let protection = decision.protectionClass?.rawValue ?? "no class"
        write("fileProtection", protection, decision.protection)
        if let verdict = ProtectionVerdict(on: item) {
            buffer.append(text: "  enforced: \(verdict.rawValue): \(verdict.sentence)\n")
        }
        if let evicted {
            buffer.append(
                text: "  note: is evicted: its content is in snapshot "
                    + "\(evicted.snapshot.prefix(8)) of repository \(evicted.repository.prefix(8)), "
                    + "and backups exclude it (\(downloadCommand(for: item.path)))\n")
        }
        if isIgnoredByDropbox {
            buffer.append(
                text: "  note: Dropbox does not synchronize it "
                    + "(\(ForeignAttribute.dropbox)); backups are not affected\n")
        }
        for issue in decision.issues { write(issue, at: nil) }
        for issue in item.ancestorIssues { write(issue.issue, at: issue.path) }
        buffer.endRecord()
    }

    private mutating func write(
        _ key: StaticString, _ value: String, _ reason: some PolicyReason
    ) {
        buffer.append("  ")
        buffer.append(key)
        buffer.append(": ")
        buffer.append(text: value, in: isColored ? OutputColor(value: value) : nil)
        buffer.append(text: ": \(reason.sentence)")
        if let ancestor = reason.ancestor {
            buffer.append(" (")
            buffer.append(path: ancestor)
            buffer.append(")")
        }
        buffer.append("\n")
    }

    private mutating func write(_ issue: PolicyIssue, at ancestor: FilePath?) {
        buffer.append("  note: ")
        if let ancestor {
            buffer.append(path: ancestor)
            buffer.append(": ")
        }
        buffer.append(text: issue.sentence)
        buffer.append("\n")
    }

    private mutating func writeObject(
        _ item: EffectiveItem, _ evicted: EvictionRecord?, _ isIgnoredByDropbox: Bool,
        _ path: [UInt8]
    ) {
        let decision = item.decision
        var line = JSONLine.output()
        line.add(path: path)
        line.add("error", String?.none)
        line.add("exclusion", object: { $0.add(decision.exclusion) })
        line.add("purgeability", object: { $0.add(decision.isPurgeable, decision.purgeability) })
        line.add(
            "protection",
            object: { line in
                line.add(decision.protectionClass, decision.protection)
                line.add("verdict", ProtectionVerdict(on: item)?.rawValue)
            })
        line.add("issues", objects: item.issues) { entry, line in
            line.add("name", entry.issue.name)
            line.add("sentence", entry.issue.sentence)
            line.add(path: entry.path.bytes)
        }
        if let evicted {
            line.add(
                "evicted",
                object: { line in
                    line.add("repository", evicted.repository)
                    line.add("snapshot", evicted.snapshot)
                })
        }
        if isIgnoredByDropbox { line.add("isIgnoredByDropbox", true) }
        line.end(in: &buffer)
    }
}

extension JSONLine {
    fileprivate mutating func add(_ exclusion: Exclusion) {
        add("value", exclusion.isExcluded)
        add("marker", exclusion.marker?.rawValue)
        add(reason: exclusion)
    }

    fileprivate mutating func add(_ value: Bool, _ reason: some PolicyReason) {
        add("value", value)
        add(reason: reason)
    }

    fileprivate mutating func add(_ value: FileProtection?, _ reason: some PolicyReason) {
        add("value", value?.rawValue)
        add(reason: reason)
    }

    private mutating func add(reason: some PolicyReason) {
        add("reason", reason.name)
        add("sentence", reason.sentence)
        if let ancestor = reason.ancestor {
            add("ancestor", "ancestorBase64", ancestor.bytes)
        } else {
            add("ancestor", String?.none)
        }
    }
}
