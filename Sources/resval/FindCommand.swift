import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemPackage

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find the items that have marks.",
        discussion: """
            Prints the path of every item that fits all filters; without one, of every item with \
            any mark. --effective filters by what applies. Only a ROOT may be a link.

            EXAMPLES
              resval find --excluded ~
              resval find --excluded -0 ~/src | xargs -0 du -sch
            """)

    @OptionGroup var filter: FindFilter

    @Flag(help: "Filter and print what applies instead of what is stored.")
    var effective = false

    @Flag(help: "Print the bytes on disk before the path of a file.")
    var size = false

    @Flag(help: "Sort by path; keeps all results in memory.")
    var sort = false

    @OptionGroup var records: RecordOptions
    @OptionGroup var roots: RootOptions
    @OptionGroup var threads: ThreadOptions
    @OptionGroup var policyOptions: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    func validate() throws { try policyOptions.check(effective: effective) }

    func run() throws {
        try roots.run { run in
            let results = FoundItems(
                form: records.form, showsSize: size, isSorted: sort,
                isColored: records.form == .lines && color.color.colorsStandardOutput)
            let reader =
                try effective ? policyOptions.reader { $0.heeding(PurgePlaces($1)) } : nil
            if reader != nil { reportUnaskedSettings() }
            let starts = roots.starts(run) { root throws(FileError) -> FindContext? in
                guard let reader else { return nil }
                return .root(try reader.item(at: root.path).decision)
            }
            let filter = filter
            let directory = reader.flatMap { _ in try? workingDirectory() } ?? ""
            try roots.walk.scanner(threadCount: threads.count).scan(starts) { _ in
                Finder(
                    reporter: WalkReporter(run), filter: filter, reader: reader,
                    directory: directory, results: results)
            }
            run.progress.end()
            results.finish()
        }
    }
}

struct FindFilter: ParsableArguments, Sendable {
    @Flag(help: "Items excluded from backups.")
    var excluded = false

    @Flag(help: "Items that may be deleted when space is short.")
    var purgeable = false

    @Option(help: ArgumentHelp("Items of this protection class.", valueName: "class"))
    var protection: FileProtection?

    @Flag(help: "Items with a malformed or unreadable mark.")
    var malformed = false

    /// - Parameter decision: the effective values; nil to filter by the stored marks.
    func fits(_ marks: Marks, _ decision: Decision? = nil) -> Bool {
        func isValue(_ value: StoredValue, of key: StoredKey) -> Bool {
            (decision.map { $0.value(for: key) } ?? marks[key].value) == value
        }
        if decision?.isUnmarked ?? marks.isEmpty { return false }
        if excluded && !isValue(true, of: .isExcludedFromBackup) { return false }
        if purgeable && !isValue(true, of: .isPurgeable) { return false }
        if let protection, !isValue(.protection(protection), of: .fileProtection) { return false }
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
