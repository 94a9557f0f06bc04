import CommandSupport
import ResourceValues
import SystemPackage

/// Stores the marks in a file that others may have written: valid values only, below the directories
/// that were named and through no link, and removes none.
final class MarksLoad {
    private var roots: ArraySlice<PathArgument>
    private let isDryRun: Bool
    private let run: CommandRun
    private var section: Section?
    private var hasSections = false
    private var lineNumber = 0
    private var changedItems = 0
    private var buffer = OutputBuffer()

    /// The marks of one directory, whose header was read.
    private struct Section {
        /// The directory to store below; nil when none was given or it cannot be opened.
        let root: BeneathRoot?
        var marks: Int64 = 0
        /// The item of the last lines, and its marks, which are stored together.
        var path: [UInt8] = []
        var changes: [MarkChange] = []
    }

    init(_ roots: [PathArgument], isDryRun: Bool, _ run: CommandRun) {
        self.roots = roots[...]
        self.isDryRun = isDryRun
        self.run = run
    }

    /// - Parameter file: The file; nil or `-` for standard input.
    func load(_ file: PathArgument?) throws(FileError) {
        if !isDryRun { StopRequest.goOnWithoutOutput() }
        let name = file.flatMap { $0.isDash ? nil : $0 }
        try calls(on: name?.path, FileError.opening) { () throws(Errno) in
            guard let name else {
                if Messages.canAsk {
                    Messages.inform(
                        "reading marks from the terminal (end them with Ctrl-D, or name a file)")
                }
                return try read(.standardInput)
            }
            let opened = OwnedDescriptor(try openForReading(name.path))
            try read(opened.descriptor)
        }
    }

    private func read(_ descriptor: FileDescriptor) throws(Errno) {
        var reader = DelimitedReader(descriptor, endingWith: UInt8(ascii: "\n"))
        try reader.forEach(beforeWaiting: { buffer.flush() }, { self.take($0) })
        storePending()
        if !StopRequest.isMade && (section != nil || !hasSections) {
            complain("the marks are cut short: their end is missing")
        }
        let text = "\(isDryRun ? "items to change" : "items changed"): \(changedItems)"
        buffer.append(text: "\(text)\n")
        buffer.finish(saying: text)
    }

    private func take(_ record: DelimitedReader.Record) {
        lineNumber += 1
        guard case .whole(let bytes) = record, let line = MarkLine(bytes) else {
            return refuse("not a line of saved marks")
        }
        switch line {
        case .journal: refuse("a journal is undone with: resval undo")
        case .marks(let root): begin(root)
        case .change(let change): add(change)
        case .end(let marks, let isComplete): end(marks, isComplete)
        }
    }

    private func begin(_ givenRoot: [UInt8]) {
        storePending()
        hasSections = true
        if section != nil { complain("line \(lineNumber): the marks before it have no end") }
        section = Section(root: openNextRoot(givenRoot))
    }

    private func openNextRoot(_ givenRoot: [UInt8]) -> BeneathRoot? {
        guard let next = roots.popFirst() else {
            run.outcome.report(
                about: givenRoot,
                "there are more directories than --root names, beginning with this one")
            return nil
        }
        do throws(FileError) {
            return try BeneathRoot(next.path)
        } catch {
            run.outcome.report(error, at: next.bytes)
            return nil
        }
    }

    private func add(_ change: RecordedChange) {
        guard section != nil else {
            return complain("line \(lineNumber): is before the header")
        }
        guard change.identity == nil, change.old == nil, let mark = change.mark.markChange,
            mark.value != nil
        else { return refuse("not a line of saved marks") }
        if section?.path != change.path
            || section?.changes.contains(where: { $0.key == mark.key }) == true
        {
            storePending()
        }
        section?.marks += 1
        section?.path = change.path
        section?.changes.append(mark)
        run.progress.advance()
    }

    /// Stores the marks of the item that the last lines were about.
    private func storePending() {
        guard let pending = section, !pending.changes.isEmpty else { return }
        section?.changes = []
        guard let root = pending.root else { return }
        do throws(FileError) {
            let item = try root.item(at: pending.path)
            let present = try item.location.marks()
            let changes = pending.changes.filter { present[$0.key].value != $0.value }
            guard !changes.isEmpty else { return }
            try HomeGuard.check(
                item.path, shownAs: FilePath(bytes: item.shownPath), item.status)
            if !isDryRun { try store(changes, on: item.location) }
            changedItems += 1
            for change in changes {
                buffer.append(name: item.shownPath)
                buffer.append(text: ": \(change.text)\n")
                buffer.endRecord()
            }
        } catch {
            run.outcome.report(error)
        }
    }

    /// Makes all changes or none, and reads the marks back.
    private func store(_ changes: [MarkChange], on item: NamedDescriptor) throws(FileError) {
        try item.apply(changes)
        let stored = try item.marks()
        guard changes.allSatisfy({ stored[$0.key].value == $0.value }) else {
            throw FileError(
                code: .changed, message: "the marks read back are not those that were stored",
                advice: "load them again", path: item.pathForMessages)
        }
    }

    private func end(_ marks: Int64, _ isComplete: Bool) {
        storePending()
        guard let finished = section else {
            return complain("line \(lineNumber): an end without a header")
        }
        section = nil
        if finished.marks != marks {
            complain(
                "line \(lineNumber): there should be \(counted(marks, "mark")), but there are "
                    + "\(finished.marks)")
        }
        if !isComplete {
            Messages.warn(
                "the marks are incomplete: not everything could be read when they were saved")
        }
    }

    /// Refuses a line, which counts, so that it is not reported as missing, too.
    private func refuse(_ complaint: String) {
        section?.marks += 1
        complain("line \(lineNumber): \(complaint)")
    }

    private func complain(_ text: String) { run.outcome.report(about: nil, text) }
}

/// Opens items below a directory and never outside it, even while path components are renamed or
/// replaced.
///
/// Each name is looked up relative to the open parent directory, and symbolic links are not
/// followed. A path may therefore be of any length, and no path leads out of the directory.
final class BeneathRoot: Sendable {
    private let root: OpenDirectory
    private let path: FilePath

    /// Opens the directory, following symbolic links.
    init(_ path: FilePath) throws(FileError) {
        self.path = path
        root = try calls(on: path, FileError.opening) { () throws(Errno) in
            try OpenDirectory(at: path)
        }
    }

    /// Opens an item.
    ///
    /// - Parameter relative: Names separated by single slashes, or `.` for the directory itself.
    /// - Throws: ``FileError``: `unsafePath` for a path that is absolute or contains an empty name, `.`,
    ///   `..` or a NUL; `noSuchFile`; `notADirectory`, also for a symbolic link as an intermediate
    ///   component; `unsupportedFileKind` for items that cannot store marks.
    func item(at relative: [UInt8]) throws(FileError) -> OpenedItem {
        if relative == Array(".".utf8) {
            return try checked(OpenedItem(root, shownPath: path.bytes, path: path))
        }
        guard let names = RelativePath(relative)?.names, let last = names.last else {
            throw FileError(
                code: .unsafePath,
                message: "the path is absolute or has an empty name, . or .. in it: refused",
                path: FilePath(bytes: relative))
        }
        let shown = FilePath(bytes: path.bytes + [UInt8(ascii: "/")] + relative)
        let parent = try calls(on: shown, FileError.opening) { () throws(Errno) in
            try root.openDirectory(along: names.dropLast())
        }
        return try checked(
            OpenedItem(
                parent.location(of: FilePath(bytes: last)), shownPath: shown.bytes, path: shown))
    }

    private func checked(_ item: OpenedItem) throws(FileError) -> OpenedItem {
        guard item.status.kind.canStoreUserAttributes else {
            throw .storingAttribute(
                .notPermitted, nil, on: item.path, status: item.status, user: effectiveUser())
        }
        return item
    }
}
