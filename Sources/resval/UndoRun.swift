import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage

/// Undoes the changes recorded in a journal.
final class UndoRun {
    private let command: JournaledCommand
    private let isDryRun: Bool
    private let isJSON: Bool
    private let isQuiet: Bool
    private let isConfirmed: Bool
    private let outcome: Outcome
    private let progress: Progress
    private let undo: JournalUndo
    private let output: TransferOutput
    /// The number of changes that were undone.
    private(set) var count = 0
    /// The number of changes that were not.
    private(set) var left = 0
    private var state = State.beginning
    /// Where the next line begins.
    private var offset: Int64 = 0
    /// Where the lines of changes are that are not yet undone.
    private var lines: [Range<Int64>] = []

    private enum State {
        /// The next line is the header.
        case beginning
        /// The next lines are changes.
        case reading
        /// The file is not a journal of the command; all further lines are ignored.
        case refused
    }

    /// Creates a run.
    ///
    /// - Parameter isConfirmed: whether the newest journal is undone without a question.
    init(
        _ command: JournaledCommand, isDryRun: Bool, isJSON: Bool, isQuiet: Bool = false,
        isConfirmed: Bool, _ outcome: Outcome, _ progress: Progress
    ) {
        self.command = command
        self.isDryRun = isDryRun
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.isConfirmed = isConfirmed
        self.outcome = outcome
        self.progress = progress
        undo = JournalUndo(isDryRun: isDryRun)
        output = TransferOutput(isJSON: isJSON)
    }

    /// Undoes a journal.
    ///
    /// The latest change is undone first. The newest journal may be of another change than the one
    /// in mind, so it needs consent. A journal in the state directory that is undone completely is
    /// renamed, so that it is not used again.
    ///
    /// - Parameter chosen: The journal; nil for the newest in the state directory.
    /// - Throws: ``FileError`` before anything is undone; `unsupportedFileKind` for a pipe, since the end
    ///   of a journal is read first.
    func run(_ chosen: FilePath?) throws(FileError) {
        let path: FilePath
        if let chosen { path = chosen } else { path = try newest() }
        let opened = try chosen == nil ? openStateFile(path) : openNamed(path)
        guard let opened else { throw .opening(.noSuchFileOrDirectory, path) }
        let file = OwnedDescriptor(opened)
        guard try file.descriptor.named(path).fileStatus().kind == .regularFile else {
            throw FileError(
                code: .unsupportedFileKind, message: "is not a regular file",
                advice: "write the journal to a file, and name that", path: path)
        }
        // Where files cannot be locked, only this check is missing.
        guard (try? takeLock(on: file.descriptor)) ?? true else {
            throw FileError(
                code: .other, message: "is in use by another command",
                advice: "wait for it to end", path: path)
        }
        if chosen == nil, try !mayUndo(file.descriptor, at: path) { return }
        do throws(Errno) {
            var reader = DelimitedReader(file.descriptor, endingWith: UInt8(ascii: "\n"))
            try reader.forEach { self.take($0, in: path) }
        } catch {
            throw .opening(error, path)
        }
        undoLines(of: file.descriptor, at: path)
        if state == .beginning && !StopRequest.isMade { complain(path, "is empty") }
        output.flush()
        summarize(path)
        let isWhole = left == 0 && !outcome.hasFailures && !StopRequest.isMade
        if isWhole && !isDryRun { try Journal.setAside(path) }
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
                Messages.write(FileError(error, of: path))
                return outcome.noteFailure()
            }
        }
    }

    private func openNamed(_ path: FilePath) throws(FileError) -> FileDescriptor {
        do throws(Errno) {
            return try openForReading(path)
        } catch {
            throw .opening(error, path)
        }
    }

    /// Asks whether the newest journal is the one to undo.
    private func mayUndo(
        _ journal: FileDescriptor, at path: FilePath
    ) throws(FileError) -> Bool {
        guard !isConfirmed && !isDryRun else { return true }
        let time: FileTime
        do throws(Errno) {
            time = try journal.status().contentModificationTime
        } catch {
            throw .opening(error, path)
        }
        let meaning =
            "is the newest journal of \(command.rawValue), written until "
            + "\(time.localText): all changes in it will be undone"
        guard Messages.canAsk else {
            Messages.write(about: path, "\(meaning) (give --yes, or name the journal)")
            outcome.noteFailure()
            return false
        }
        if Messages.confirm(about: path.bytes, meaning) { return true }
        Messages.write(about: path, "nothing was undone")
        outcome.noteNo()
        return false
    }

    private func newest() throws(FileError) -> FilePath {
        if let path = try Journal.newest(of: command) { return path }
        throw FileError(
            code: .noSuchFile,
            message: "there is no journal of \(command.rawValue) left to undo",
            advice: "name one", path: try StateDirectory.path())
    }

    private func take(_ record: DelimitedReader.Record, in path: FilePath) {
        switch record {
        case .whole(let line):
            let end = offset + Int64(line.count)
            switch state {
            case .beginning: begin(line, in: path)
            case .reading: lines.append(offset..<end)
            case .refused: break
            }
            offset = end + 1
        case .empty:
            offset += 1
            complain(path, "a line is not a journal line")
        case .tooLong:
            state = .refused
            complain(path, "a line is not a journal line, and what follows it is not undone")
        case .cutShort:
            // A change is made only after its complete line was synchronized.
            Messages.warn(
                about: path.bytes, "the last line is truncated: that change was not made")
        }
    }

    private func begin(_ line: UnsafeBufferPointer<UInt8>, in path: FilePath) {
        state = .refused
        guard let header = JournalHeader(line: Array(line)) else {
            return complain(path, "is not a journal")
        }
        guard header.command == command else {
            let name = header.command.rawValue
            let undo = "resval \(name) --undo \(ShellWord.quoted(path.bytes))"
            return complain(path, "is a journal of \(name) (undo it with: \(undo))")
        }
        state = .reading
    }

    private func bytes(
        of line: Range<Int64>, in file: FileDescriptor
    ) throws(Errno) -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: line.count)
        let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(Errno) in
            try readFile(file, at: line.lowerBound, into: UnsafeMutableRawBufferPointer(buffer))
        }
        // It was truncated meanwhile.
        guard count == bytes.count else { throw .ioError }
        return bytes[...]
    }

    private func undo(_ line: ArraySlice<UInt8>, in path: FilePath) {
        // The details of the error are not reported, because journals are not written by hand.
        guard let entry = try? JournalEntry(line: line) else {
            return complain(path, "a line is not a journal line")
        }
        do throws(FileError) {
            let result = try undo.undo(entry)
            if result == .undone {
                count += 1
                progress.advance()
                if !isQuiet {
                    output.write(
                        entry.change, at: entry.path.bytes, from: [], isDryRun ? .planned : .undone)
                }
            }
            guard let complaint = result.complaint else { return }
            left += 1
            Messages.write(about: entry.path.bytes, "\(entry.change.text) is \(complaint)")
        } catch {
            left += 1
            Messages.write(error)
        }
        if left > 0 { outcome.noteFailure() }
    }

    private func complain(_ path: FilePath, _ complaint: String) {
        Messages.write(about: path.bytes, complaint)
        outcome.noteFailure()
    }

    private func summarize(_ path: FilePath) {
        guard !isQuiet else { return }
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("marks", count)
            line.add("left", left)
            line.add("journal", "journalBase64", path.bytes)
            line.end(in: &buffer)
        } else {
            let done = isDryRun ? "marks to undo" : "marks undone"
            buffer.append(text: "\(done): \(count); not undone: \(left)\n")
        }
        buffer.flush()
    }
}
