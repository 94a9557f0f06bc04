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
            other. Exits with 2 when one is malformed or cannot be read.

            JSON fields: path, pathBase64 (only when path is null), exclusion, purgeability and \
            protection, each with value, reason, sentence, ancestor and ancestorBase64 (only when \
            ancestor is null though there is one), exclusion also with marker, the kind of mark \
            that excludes (native, apple, xdg, nodump, cachedir or nobackup; null for none); \
            issues, each with name, sentence, path and pathBase64.

            EXAMPLES
              resval explain ~/build/a.o
              resval explain --source ~/project ~/project/.cache
              resval explain --json ~/.cache | jq .exclusion.reason
            """)

    @OptionGroup var input: PathOptions
    @OptionGroup var policy: SourcePolicyOptions

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @Flag(help: "Explain a symbolic link itself.")
    var noDereference = false

    func run() throws {
        let outcome = Outcome()
        let reader = try policy.reader()
        var output = Explanation(isJSON: isJSON)
        input.forEach(outcome: outcome, beforeWaiting: { output.flush() }) { path in
            do throws(FileError) {
                let item = try reader.item(at: path.path, followsLast: !noDereference)
                output.write(item, of: Array(path.bytes))
                if item.marks.areBroken || item.decision.issues.contains(where: \.isTrouble) {
                    outcome.noteFailure()
                }
            } catch {
                Messages.write(error, at: path.bytes)
                outcome.noteFailure()
            }
        }
        output.flush()
        try outcome.finish()
    }
}
