import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct SuggestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "List the directories that tools re-create, and exclude them from backups.",
        discussion: """
            Below each ROOT (without one, the current directory) every directory is listed that a \
            tool makes again after it was deleted, such as node_modules beside package.json, and \
            that backups still include: with its allocated size, the largest first. A name alone is \
            never enough, and nothing is listed in which git tracks a file, or of which that cannot \
            be asked. Nothing is listed below a directory that is listed or excluded.

            The rules are those of resval, then those in $XDG_CONFIG_HOME/resval/rules.tsv: lines of \
            directory, proof, what makes it again, and reason, with tabs between. \
            isExcludedFromBackup=false on a directory overrules them.

            --apply stores isExcludedFromBackup=true on each, and writes a journal first, as set -R \
            does; --undo brings back what there was, and prints absolute paths, as the journal has them. \
            A directory that is deleted and made again has \
            lost its mark: the marker rules (--markers native,apple,xdg,rules) applies the same rules \
            whenever a backup is made, without marks.

            JSON FIELDS
            \(JSONFields.version)
              type: string (suggestion, suggestions, item, summary, mark, totals)
              type suggestion:
                path: string or null (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
                fileAllocatedSize: number (bytes, with everything in it)
                proof: string (its name and what proves the rule)
                tool: string (what makes it again)
                reason: string
              type suggestions:
                directories: number
                fileAllocatedSize: number (bytes; a file with several names counts once)
            \(changeFields)

            EXAMPLES
              resval suggest ~/src
              resval suggest --interactive ~
              resval suggest --apply ~/src
              resval suggest --undo
              resval suggest -0 ~/src | xargs -0 du -sch
            """)

    @Argument(help: "Where to search; with --undo, the journal.")
    var roots: [PathOperand] = []

    @Flag(help: "Exclude what is listed from backups.")
    var apply = false

    @Flag(help: "Ask about each directory, and exclude those that are confirmed.")
    var interactive = false

    @Flag(
        help: ArgumentHelp(
            "Undo what --apply did: by the journal given instead of ROOT, or the newest after asking."
        ))
    var undo = false

    @Flag(name: [.customShort("n"), .long], help: "Print what would be changed, and do nothing.")
    var dryRun = false

    @Flag(help: "Undo the newest journal without asking.")
    var yes = false

    @OptionGroup var records: RecordOptions
    @OptionGroup var policyOptions: PolicyOptions
    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var walk: WalkOptions

    func validate() throws {
        if undo && (apply || interactive || roots.count > 1) {
            throw ValidationError("--undo takes at most a journal, and no --apply")
        }
        if (undo || apply || interactive) && records.endsWithNUL {
            throw ValidationError("--null is for the list alone")
        }
    }

    func run() throws {
        if undo { return try undoChanges() }
        if interactive && !Messages.canAsk {
            Messages.write(about: [UInt8]?.none, "--interactive needs a terminal (use --apply)")
            throw ExitCode(2)
        }
        let changes = try ChangeRun.begin(
            .suggest, keepsJournal: true, isDryRun: dryRun, isJSON: records.isJSON, isQuiet: false)
        let suggestions = try suggestions(changes.outcome)
        guard !StopRequest.isMade else { return try changes.outcome.finish() }
        let total = suggestions.total
        if !interactive { write(suggestions.sorted, total) }
        if apply || interactive {
            exclude(suggestions.sorted, changes)
            changes.finish()
        }
        try changes.outcome.finish()
    }

    /// Searches the ROOTs, and reports what cannot be read.
    private func suggestions(_ outcome: Outcome) throws -> SuggestionList {
        let progress = progressOptions.begin(counting: "items examined")
        defer { progress.end() }
        let environment = PolicyEnvironment.current()
        let policy = policyOptions.policy(in: environment, adding: [.native, .rules])
        let list = SuggestionList()
        // A mistake in the rules is one of their file, not of each ROOT.
        _ = try MarkReader.current(policy.markers)
        let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths
        for root in roots where !StopRequest.isMade {
            do throws(FileError) {
                let search = try SuggestionRoot(root, policy)
                try walk.scanner().scan([TreeRoot(root.path, context: .root(search.decision))]) {
                    _ in SuggestionVisitor(search, list, outcome, progress)
                }
            } catch {
                Messages.write(error, at: root)
                outcome.noteFailure()
            }
        }
        list.addUp()
        return list
    }

    private func write(_ suggestions: [Suggestion], _ total: Int64) {
        var buffer = OutputBuffer()
        for suggestion in suggestions { suggestion.write(to: &buffer, in: records.form) }
        switch records.form {
        case .nulEnded: break
        case .json:
            var line = JSONLine.output()
            line.add("type", "suggestions")
            line.add("directories", suggestions.count)
            line.add("fileAllocatedSize", total)
            line.end(in: &buffer)
        case .lines:
            let count = counted(suggestions.count, "directory", "directories")
            buffer.append(text: "total: \(count), \(sizeText(total))\n")
        }
        buffer.flush()
    }

    /// Excludes directories from backups, each after a question if one is wanted.
    private func exclude(_ suggestions: [Suggestion], _ run: ChangeRun) {
        let batch = ChangeBatch(run) { _ in }
        let change = ItemChange(changes: [MarkChange(.isExcludedFromBackup, to: true)])
        for suggestion in suggestions where !StopRequest.isMade && !run.hasStopped {
            if interactive, !suggestion.isConfirmed() { continue }
            do throws(FileError) {
                let directory = try suggestion.open()
                let named = directory.descriptor.named(FilePath(bytes: suggestion.shownPath))
                _ = batch.change(named, change) {
                    ChangeBatch.Paths(
                        shown: suggestion.shownPath, absolute: suggestion.absolutePath)
                }
            } catch {
                Messages.write(error)
                run.outcome.noteFailure()
            }
        }
        batch.finish()
    }

    private func undoChanges() throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "changes undone")
        defer { progress.end() }
        do throws(FileError) {
            try UndoRun(
                .suggest, isDryRun: dryRun, isJSON: records.isJSON, isConfirmed: yes, outcome,
                progress
            ).run(roots.paths.first?.path)
        } catch {
            Messages.write(error)
            outcome.noteFailure()
        }
        try outcome.finish()
    }
}
