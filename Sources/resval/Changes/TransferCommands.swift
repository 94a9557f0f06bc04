import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store marks for the marks of other programs.",
        discussion: """
            Below each ROOT every item that has one of the marks named by --from gets \
            isExcludedFromBackup=true; xdg with the value true gives false. CACHEDIR.TAG and \
            .nobackup mark the directory they are in. The other programs' marks stay.

            A mark that is there already stays, and a contradiction is reported. Where the others \
            contradict each other nothing is stored, and the exit code is 2. What was \
            stored can be undone: resval undo.

            The flag nodump counts on a ROOT itself only, since most filesystems give it to all that \
            is made in a directory that has it, and it stays on what is moved away. Others with the \
            flag are named.

            EXAMPLES
              resval import --from apple,xdg --dry-run ~
              resval import --from nodump ~/disk.img
            """)

    @Option(
        help: ArgumentHelp(
            "The marks to read, separated by commas: apple, xdg, nodump, cachedir, nobackup, "
                + "duplicati, duplicacy.",
            valueName: "list"),
        completion: .listWithCommas(importable.map(\.rawValue)),
        transform: { try Marker.set(of: $0, among: importable) })
    var from: Set<Marker>

    @OptionGroup var options: TransferOptions

    /// The kinds of marks of other programs that are stored with items.
    private static let importable: [Marker] = [
        .apple, .xdg, .nodump, .cachedir, .nobackup, .duplicati, .duplicacy,
    ]

    func run() throws { try options.run(Transfer(command: .import, markers: from)) }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Store marks that other programs read.",
        discussion: """
            Below each ROOT the topmost items whose own mark is isExcludedFromBackup=true get \
            the marks named by --to: xdg is the attribute user.xdg.robots.backup with the value \
            false, apple the attribute that Apple's systems set, nodump the flag of chattr +d.

            A file with more than one name gets nothing, since backups store it and other programs \
            would exclude all of its names. A directory gets no nodump, which would also exclude \
            what is made in it and moved away. A mark that is there already stays; one that \
            says the opposite is reported, and the exit code is 2. What was stored can be undone: \
            resval undo.

            EXAMPLES
              resval export --to xdg --dry-run ~
              resval export --to apple,xdg ~/Documents
            """)

    @Option(
        help: ArgumentHelp(
            "The marks to write, separated by commas: xdg, apple, nodump.", valueName: "list"),
        completion: .listWithCommas(exportable.map(\.rawValue)),
        transform: { try Marker.set(of: $0, among: exportable) })
    var to: Set<Marker>

    @OptionGroup var options: TransferOptions

    /// The kinds of marks that are stored on the item itself.
    private static let exportable: [Marker] = [.xdg, .apple, .nodump]

    func run() throws { try options.run(Transfer(command: .export, markers: to)) }
}

struct TransferOptions: ParsableArguments {
    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, but change nothing.")
    var dryRun = false

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var roots: RootOptions

    func run(_ transfer: Transfer) throws {
        try roots.run { work in
            let exclusion = MarkChange(.isExcludedFromBackup, to: true)
            let run = try ChangeRun(
                dryRun ? nil : .new(of: transfer.command),
                advisingOn: transfer.command == .import ? [exclusion] : nil, isDryRun: dryRun,
                isJSON: isJSON, work.outcome)
            var scanner = roots.walk.scanner()
            scanner.shouldStop = { StopRequest.isMade || run.hasStopped }
            let threadCount = scanner.threadCount
            let starts = roots.starts(work) { root throws(FileError) in
                WalkedRoot(given: root.path, real: try realPath(of: root.path))
            }
            try scanner.scan(starts) { _ in
                TransferVisitor(
                    reporter: WalkReporter(work), transfer: transfer,
                    reader: MarkReader(transfer.markers),
                    batch: ChangeBatch(run, threadCount: threadCount))
            }
            work.progress.end()
            run.finish()
        }
    }
}

struct Transfer: Sendable {
    let command: JournaledCommand
    let markers: Set<Marker>
    fileprivate func translation(of marks: ItemMarks, on kind: FileKind) -> Translation {
        command == .import
            ? Translation(importing: markers, onto: marks)
            : Translation(exporting: markers, from: marks, on: kind)
    }

    /// Takes away the marks that are not translated, as other programs or filesystems would take the
    /// twins for more than is meant.
    ///
    /// - Returns: why, if something is not translated.
    fileprivate func obstacle(
        to marks: inout ItemMarks, _ status: FileStatus, isRoot: Bool
    ) -> String? {
        switch command {
        case .import where !isRoot && marks.foreign.excluding.remove(.nodump) != nil:
            guard marks.native.isExcludedFromBackup == nil, marks.foreign.excluding.isEmpty
            else { return nil }
            return "nodump may come from the directory it was made in; to count it, name the item "
                + "itself: resval import --from nodump"
        case .export where marks.native.isExcludedFromBackup == true:
            if status.kind == .regularFile, status.linkCount > 1 {
                marks = .none
                return "has \(status.linkCount) names, so backups store it and no other mark is set"
            }
            guard status.kind == .directory, markers == [.nodump] else { return nil }
            return "a directory gets no nodump, which it would pass on; use --to xdg"
        default: return nil
        }
    }

    fileprivate func report(
        _ conflict: Translation.Conflict, at path: [UInt8], _ outcome: Outcome
    ) {
        if conflict.isSettled {
            return Messages.warn(about: path, "\(conflict.sentence); isExcludedFromBackup is kept")
        }
        let advice =
            command == .import
            ? "nothing is stored: decide with resval set excluded=…"
            : "the existing mark is kept"
        outcome.report(about: path, "\(conflict.sentence) (\(advice))")
    }
}

struct TransferVisitor: CommandVisitor {
    typealias Context = WalkedRoot

    var reporter: WalkReporter
    let transfer: Transfer
    let reader: MarkReader
    let batch: ChangeBatch

    func look(
        at entry: borrowing TreeEntry, in root: WalkedRoot
    ) -> Descent<WalkedRoot> {
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown else { return .skip }
        let marks = reporter.marks(of: entry, by: reader)
        let isWorthOpening =
            entry.kind == .unknown || !marks.foreign.isEmpty || !marks.native.isEmpty
        // What an excluded directory contains is excluded with it.
        let isWhole = transfer.command == .export && marks.native.isExcludedFromBackup == true
        if isWorthOpening {
            do throws(FileError) {
                try translate(entry, in: root)
            } catch {
                reporter.report(entry: error)
            }
        }
        return isWhole ? .skip : .descend(root)
    }

    func flush() { batch.finish() }

    /// Opens an item, reads its marks again and adds the marks to write to the batch.
    private func translate(
        _ entry: borrowing TreeEntry, in root: WalkedRoot
    ) throws(FileError) {
        let paths = root.paths(of: entry)
        let item = try OpenedItem(entry, shownPath: paths.shown, path: paths.absolute)
        var marks = try reader.marks(
            of: item.location, kind: item.status.kind, status: item.status)
        if let (marker, errno) = marks.foreign.unreadable.min(by: { $0.key < $1.key }) {
            throw FileError(
                code: .other, message: PolicyIssue.unreadableMarker(marker, errno).sentence,
                path: FilePath(bytes: paths.shown), errno: errno)
        }
        if let reason = transfer.obstacle(to: &marks, item.status, isRoot: entry.depth == 0) {
            Messages.warn(about: paths.shown, reason)
        }
        let translation = transfer.translation(of: marks, on: item.status.kind)
        if let conflict = translation.conflict {
            transfer.report(conflict, at: paths.shown, reporter.outcome)
        }
        guard !translation.writes.isEmpty else { return }
        if transfer.command == .import {
            try HomeGuard.check(
                item.path, shownAs: FilePath(bytes: item.shownPath), item.status)
        }
        let origins = translation.origins.sorted().map(\.rawValue).joined(separator: ", ")
        batch.add(ItemChange(marks: translation.writes, reason: "from \(origins)"), to: item)
    }
}
