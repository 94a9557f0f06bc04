import ArgumentParser
import CommandSupport
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Undo a mass change of marks.",
        discussion: """
            Every change of a list, with -R, and by import, export and suggest is written to a \
            journal in $XDG_STATE_HOME/resval before it is made. undo puts back what there was, the \
            latest change first, also after the command was killed. A mark that has changed since \
            stays, as does that of another item at its path, and both are reported. Without JOURNAL \
            the newest is undone, after asking. A journal in that directory is deleted once all of \
            it is undone.

            EXAMPLES
              resval undo --dry-run
              resval undo
            """)

    @Argument(help: "The journal, as the summary of the change named it.")
    var journal: PathArgument?

    @Flag(
        name: [.customShort("n"), .long], help: "Print what would be undone, but change nothing.")
    var dryRun = false

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var progressOptions: ProgressOptions

    func run() throws {
        try CommandRun.run(progressOptions, counting: "changes undone") { run in
            try UndoRun(isDryRun: dryRun, isJSON: isJSON, run.outcome, run.progress)
                .run(journal?.path)
        }
    }
}

final class UndoRun {
    private let isDryRun: Bool
    private let isJSON: Bool
    private let outcome: Outcome
    private let progress: Progress
    private let filesystems = MountedFilesystems()
    private var buffer = OutputBuffer()
    private(set) var count = 0
    /// The number of changes that were not.
    private(set) var left = 0
    /// The command whose changes the journal records; nil before its first line.
    private var command: JournaledCommand?
    /// Whether the file is not a journal, or no longer.
    private var isRefused = false
    /// Where the next line begins.
    private var offset: Int64 = 0
    /// Where the lines of changes are that are not yet undone.
    private var lines: [Range<Int64>] = []

    init(isDryRun: Bool, isJSON: Bool, _ outcome: Outcome, _ progress: Progress) {
        self.isDryRun = isDryRun
        self.isJSON = isJSON
        self.outcome = outcome
        self.progress = progress
    }

    /// The latest change is undone first. The newest journal may be of another change than the one
    /// in mind, so it needs consent. A journal in the state directory that is undone completely is
    /// deleted, so that it is not used again.
    ///
    /// - Parameter chosen: The journal; nil for the newest in the state directory.
    /// - Throws: ``FileError`` before anything is undone; `unsupportedFileKind` for a pipe, since the end
    ///   of a journal is read first.
    func run(_ chosen: FilePath?) throws(FileError) {
        if !isDryRun { StopRequest.goOnWithoutOutput() }
        let path: FilePath
        if let chosen { path = chosen } else { path = try newest() }
        let file = try open(path, isOwn: chosen == nil)
        try calls(on: path, FileError.opening) { () throws(Errno) in
            var reader = DelimitedReader(file.descriptor, endingWith: UInt8(ascii: "\n"))
            try reader.forEach { self.take($0, in: path) }
        }
        if command == nil && !isRefused && !StopRequest.isMade { complain(path, "is empty") }
        if chosen == nil, let command, try !mayUndo(file.descriptor, of: command, at: path) {
            return
        }
        undoLines(of: file.descriptor, at: path)
        summarize(path)
        let isWhole = left == 0 && !outcome.hasFailures && !StopRequest.isMade
        if isWhole && !isDryRun { try Journal.remove(file.descriptor, at: path) }
    }

    private func newest() throws(FileError) -> FilePath {
        if let path = try Journal.newest() { return path }
        throw FileError(
            code: .noSuchFile, message: "there is no journal left to undo", advice: "name one",
            path: try StateDirectory.path())
    }

    /// Opens a journal that is not being written any more.
    private func open(_ path: FilePath, isOwn: Bool) throws(FileError) -> OwnedDescriptor {
        let opened: FileDescriptor?
        if isOwn {
            opened = try openStateFile(path)
        } else {
            opened = try calls(on: path, FileError.opening) { () throws(Errno) in
                try openForReading(path)
            }
        }
        guard let opened else { throw .opening(.noSuchFileOrDirectory, path) }
        let file = OwnedDescriptor(opened)
        let status = try file.descriptor.named(path).fileStatus()
        guard status.kind == .regularFile else {
            throw FileError(
                code: .unsupportedFileKind, message: "is not a regular file",
                advice: "write the journal to a file, and name that", path: path)
        }
        if !isOwn {
            try requireTrustedWay(to: path)
            try requireOrdinaryFilesystem(file.descriptor, path)
            guard [0, effectiveUser()].contains(status.owner), !status.isWritableByOthers else {
                throw FileError(
                    code: .permissionDenied,
                    message:
                        "another user owns it or can write to it, and it changes marks anywhere",
                    advice: "copy it, look through the copy, chmod go-w it, and undo that",
                    path: path)
            }
        }
        // Where files cannot be locked, only this check is missing.
        guard (try? takeLock(on: file.descriptor)) ?? true else {
            throw FileError(
                code: .other, message: "is in use by another command",
                advice: "wait for it to end", path: path)
        }
        return file
    }

    private func mayUndo(
        _ journal: FileDescriptor, of command: JournaledCommand, at path: FilePath
    ) throws(FileError) -> Bool {
        if isDryRun { return true }
        let time = try journal.named(path).fileStatus().contentModificationTime
        let meaning =
            "is the newest journal, of \(command.rawValue), written until \(time.localText): "
            + "all changes in it will be undone"
        guard Messages.canAsk else {
            complain(path, "\(meaning) (name the journal)")
            return false
        }
        if Messages.confirm(about: path.bytes, meaning) { return true }
        Messages.write(about: path, "nothing was undone")
        outcome.noteNo()
        return false
    }

    private func take(_ record: DelimitedReader.Record, in path: FilePath) {
        switch record {
        case .whole(let line):
            let end = offset + Int64(line.count)
            if command != nil {
                if !isRefused { lines.append(offset..<end) }
            } else if !isRefused {
                if case .journal(let command)? = MarkLine(line) {
                    self.command = command
                } else {
                    isRefused = true
                    complain(path, "is not a journal")
                }
            }
            offset = end + 1
        case .empty:
            offset += 1
            complain(path, "a line is not a journal line")
        case .tooLong:
            isRefused = true
            complain(path, "a line is not a journal line, and what follows it is not undone")
        case .cutShort:
            // A change is made only after its complete line was synchronized.
            Messages.warn(
                about: path.bytes, "the last line is truncated: that change was not made")
        }
    }

    /// Undoes the changes in the lines that were found. After a line that cannot be read none is undone,
    /// since the latest change comes first.
    private func undoLines(of file: FileDescriptor, at path: FilePath) {
        while !StopRequest.isMade, let line = lines.last {
            do throws(Errno) {
                undo(try bytes(of: line, in: file), in: path)
                lines.removeLast()
            } catch {
                left += lines.count
                return outcome.report(FileError(error, of: path))
            }
        }
    }

    private func bytes(
        of line: Range<Int64>, in file: FileDescriptor
    ) throws(Errno) -> [UInt8] {
        let bytes = try readFile(file, at: line.lowerBound, count: line.count)
        // It was truncated meanwhile.
        guard bytes.count == line.count else { throw .ioError }
        return bytes
    }

    private func undo(_ line: [UInt8], in path: FilePath) {
        guard case .change(let change)? = MarkLine(line), change.isUndoable else {
            return complain(path, "a line is not a journal line")
        }
        do throws(FileError) {
            switch try change.undo(isDryRun: isDryRun, filesystems) {
            case .undone:
                count += 1
                progress.advance()
                write(change)
            case .nothingThere: break
            case .refused(let reason):
                left += 1
                outcome.report(
                    about: change.path, "\(change.mark.text) is not undone: \(reason)")
            }
        } catch {
            left += 1
            outcome.report(error)
        }
    }

    private func write(_ change: RecordedChange) {
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "mark")
            line.add(path: change.path)
            line.add("mark", change.mark.name)
            line.add("value", change.mark.valueText)
            line.add("state", isDryRun ? "planned" : "undone")
            line.end(in: &buffer)
        } else {
            buffer.append(name: change.path)
            buffer.append(text: ": \(change.mark.text)\(isDryRun ? "" : " undone")\n")
            buffer.endRecord()
        }
    }

    private func complain(_ path: FilePath, _ complaint: String) {
        outcome.report(about: path.bytes, complaint)
    }

    private func summarize(_ path: FilePath) {
        let done = isDryRun ? "marks to undo" : "marks undone"
        let text = "\(done): \(count); not undone: \(left)"
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("marks", count)
            line.add("left", left)
            line.add("journal", "journalBase64", path.bytes)
            line.end(in: &buffer)
        } else {
            buffer.append(text: "\(text)\n")
        }
        buffer.finish(saying: text)
    }
}

extension RecordedChange {
    enum UndoResult: Sendable, Hashable {
        /// The value before the change was put back, or would be in a dry run.
        case undone
        /// The item has the value from before: the change was never made or is already undone.
        case nothingThere
        /// Why the change is not undone, in words.
        case refused(String)
    }

    /// Whether it is a change as journals record it: of a known item at an absolute path.
    fileprivate var isUndoable: Bool { identity != nil && path.first == UInt8(ascii: "/") }

    /// Undoes the change if the item and the value are still those recorded.
    ///
    /// - Throws: ``FileError``: `noSuchFile` when the path does not exist; the errors of opening the
    ///   item and of reading and storing the mark.
    fileprivate func undo(
        isDryRun: Bool, _ filesystems: MountedFilesystems
    ) throws(FileError) -> UndoResult {
        let item = try open()
        guard let identity, filesystems.isIdentity(identity, of: item.status) else {
            return .refused("another item is now at this path")
        }
        let present = try mark.stored(on: item.location)
        if present == old { return .nothingThere }
        guard present == mark.bytes else { return .refused("the mark has changed since") }
        if !isDryRun { try putBack(on: item.location) }
        return .undone
    }

    /// Opens the item, or the target of a link through which the item was changed: its identity tells
    /// whether it is that item.
    private func open() throws(FileError) -> OpenedItem {
        let path = FilePath(bytes: path)
        let item = try OpenedItem(path.withoutFollowing, shownPath: path.bytes, path: path)
        guard item.status.kind == .symbolicLink else { return item }
        return try OpenedItem(path, shownPath: path.bytes, path: path)
    }

    private func putBack(on file: NamedDescriptor) throws(FileError) {
        switch (mark, old) {
        case (.foreign(let mark), _):
            try mark.remove(from: file)
        case (.key(let change), let old?):
            try file.setExtendedAttribute(named: change.attribute, to: old)
        case (.key(let change), nil):
            try file.removeExtendedAttribute(named: change.attribute)
        }
    }
}
