import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find the items that have marks.",
        discussion: """
            Prints the path of every item that fits all filters; without a filter, of every item \
            with any mark. Without ROOT the current directory is searched. A ROOT that is a \
            symbolic link is followed; links found below it never are. The order is that of the \
            walk unless --sort is given.

            Filters look at what is stored on an item itself. With --effective they look at what \
            applies to it: below an excluded directory everything is excluded.

            --size puts the allocated size in bytes and a tab before each path: of a directory that \
            of everything in it, as du counts it; - for links and special files. Directories are \
            then printed at the end of the walk, as they are with --larger-than. With --effective \
            the values are those that apply.

            JSON FIELDS
            \(JSONFields.item)
              kind: string (file, directory, symbolicLink, fifo, socket, ...)
            \(markFields)
              exclusionReason: string, optional (with --effective)
              exclusionSentence: string, optional
              purgeabilityReason: string, optional
              protectionReason: string, optional
              fileAllocatedSize: number or null, optional (bytes, with --size)
            \(JSONFields.progress)

            EXAMPLES
              resval find --excluded ~
              resval find --excluded -0 ~/src | xargs -0 du -sch
              resval find --effective --purgeable --size --sort ~/.cache
              resval find --excluded --larger-than 100M ~
              resval find --malformed /
            """)

    @Argument(help: "Where to search.")
    var roots: [PathOperand] = []

    @OptionGroup var filter: FindFilter
    @OptionGroup var records: RecordOptions
    @OptionGroup var color: ColorOptions
    @OptionGroup var effectiveOptions: EffectiveOptions
    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var walk: WalkOptions

    @Flag(help: "Print the allocated size of files and of directories with everything in them.")
    var size = false

    @Flag(help: "Sort by path, byte by byte; keeps all results in memory.")
    var sort = false

    func run() throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "items examined")
        let style = FoundStyle(
            form: records.form, showsSize: size, smallestSize: filter.smallestSize, isSorted: sort,
            isColored: records.form == .lines && color.color.colorsStandardOutput)
        let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths
        let results = FoundResults(style)
        if effectiveOptions.effective {
            try findEffective(roots, results, outcome, progress)
        } else {
            let filter = filter
            try walk.scanner().scan(roots.map { TreeRoot($0.path, context: nil) }) { _ in
                StoredFinder(filter, results.writer(), outcome, progress)
            }
        }
        progress.end()
        results.finish()
        try outcome.finish()
    }

    private func findEffective(
        _ roots: [PathArgument], _ results: FoundResults, _ outcome: Outcome, _ progress: Progress
    ) throws {
        let reader = try effectiveOptions.reader()
        var starts: [TreeRoot<EffectiveContext>] = []
        for root in roots {
            do throws(FileError) {
                let item = try reader.item(at: root.path)
                starts.append(TreeRoot(root.path, context: .root(item.decision)))
            } catch {
                Messages.write(error, at: root)
                outcome.noteFailure()
            }
        }
        let filter = filter
        try walk.scanner().scan(starts) { _ in
            EffectiveFinder(filter, reader, results.writer(), outcome, progress)
        }
    }
}

/// The filters of `find`, which prints the items that match all of them.
struct FindFilter: ParsableArguments, Sendable {
    @Flag(help: "Items excluded from backups.")
    var excluded = false

    @Flag(help: "Items that may be deleted when space is short.")
    var purgeable = false

    @Option(help: ArgumentHelp("Items of this protection class.", valueName: "class"))
    var protection: FileProtection?

    @Flag(help: "Items with a malformed or unreadable mark.")
    var malformed = false

    @Flag(help: "Items with any mark (the default).")
    var marked = false

    @Option(
        help: ArgumentHelp(
            "Files, and directories with everything in them, that use more than this (20M, 4G).",
            valueName: "size"))
    var largerThan: ByteSize?

    /// The smallest allocated size that matches, in bytes; nil if any does.
    var smallestSize: Int64? { largerThan.map { $0.bytes.addingSaturating(1) } }

    /// Returns whether an item with these stored marks matches all filters.
    func fits(_ marks: Marks) -> Bool {
        if marks.isEmpty { return false }
        if excluded && marks.isExcludedFromBackup != true { return false }
        if purgeable && marks.isPurgeable != true { return false }
        if let protection, marks.fileProtection != protection { return false }
        return !malformed || marks.areBroken
    }

    /// Returns whether an item with this decision and these stored marks matches all filters.
    func fits(_ decision: Decision, _ marks: Marks) -> Bool {
        if decision.isUnmarked { return false }
        if excluded && !decision.isExcluded { return false }
        if purgeable && !decision.isPurgeable { return false }
        if let protection, decision.protectionClass != protection { return false }
        return !malformed || marks.areBroken
    }
}

extension FileProtection: ExpressibleByArgument {
    /// Parses the name of a class, in any ASCII case.
    public init?(argument: String) {
        guard let value = StoredKey.fileProtection.value(ofText: argument)?.protection
        else { return nil }
        self = value
    }
}
