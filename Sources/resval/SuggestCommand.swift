import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

struct SuggestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Find directories that tools re-create; exclude them.",
        discussion: """
            Lists each directory that a tool makes again after it was deleted, such as node_modules \
            beside package.json, and that backups include, the largest first. A name alone is never \
            enough, and nothing is listed in which git tracks a file. More rules are read from \
            $XDG_CONFIG_HOME/resval/rules.tsv; isExcludedFromBackup=false overrules them. What is made \
            again has lost its mark: --markers native,apple,xdg,rules needs none.

            EXAMPLES
              resval suggest ~/src
              resval suggest --apply ~/src
              resval suggest -0 ~/src | xargs -0 du -sch
            """)

    @Flag(help: "Exclude what is listed from backups.")
    var apply = false

    @Flag(help: "Ask about each directory, and exclude those that are confirmed.")
    var interactive = false

    @OptionGroup var records: RecordOptions
    @OptionGroup var rootOptions: RootOptions
    @OptionGroup var markers: MarkerOptions

    func validate() throws {
        if (apply || interactive) && records.endsWithNUL {
            throw ValidationError("--null is for the list alone")
        }
    }

    func run() throws {
        if interactive && !Messages.canAsk {
            Messages.write("--interactive needs a terminal (use --apply)")
            throw ExitCode(2)
        }
        try rootOptions.run { work in
            let changes =
                apply || interactive
                ? try ChangeRun(.new(of: .suggest), isJSON: records.isJSON, work.outcome) : nil
            let suggestions = try suggestions(work)
            work.progress.end()
            if StopRequest.isMade { return }
            if !interactive { write(suggestions.sorted, suggestions.total) }
            guard let changes else { return }
            exclude(suggestions.sorted, changes)
            changes.finish()
        }
    }

    private func suggestions(_ work: CommandRun) throws -> SuggestionList {
        let environment = PolicyEnvironment.current()
        let policy = markers.policy(in: environment, adding: [.native, .rules])
        let list = SuggestionList()
        // A mistake in the rules is one of their file, not of each ROOT.
        _ = try MarkReader.current(policy.markers)
        let roots = rootOptions.starts(work) { root throws(FileError) in
            try SuggestionRoot(root, policy)
        }.withoutNested(
            environment.mounts, staysOnFilesystem: rootOptions.walk.staysOnFilesystem
        ) { $0.context.item }
        for root in roots where !StopRequest.isMade {
            let start = SuggestionContext.root(root.context.item.decision)
            try rootOptions.walk.scanner().scan([TreeRoot(root.path, context: start)]) { _ in
                SuggestionVisitor(reporter: WalkReporter(work), root: root.context, list: list)
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

    private func exclude(_ suggestions: [Suggestion], _ run: ChangeRun) {
        let batch = ChangeBatch(run)
        let change = ItemChange([MarkChange(.isExcludedFromBackup, to: true)])
        for suggestion in suggestions where !StopRequest.isMade && !run.hasStopped {
            if interactive, !suggestion.isConfirmed() { continue }
            do throws(FileError) {
                let directory = try suggestion.open()
                let named = directory.descriptor.named(FilePath(bytes: suggestion.shownPath))
                _ = batch.change(named, change) { suggestion.paths }
            } catch {
                run.outcome.report(error)
            }
        }
        batch.finish()
    }
}
