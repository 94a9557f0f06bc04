import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The options shared by all commands that walk directories.
struct WalkOptions: ParsableArguments {
    @Flag(
        name: [.customShort("x"), .customLong("one-file-system")],
        help: "Do not go into directories on other filesystems.")
    var staysOnFilesystem = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("threads")],
        help: ArgumentHelp("Walk with this many threads.", valueName: "n"))
    var threadCount: Int?

    func validate() throws {
        if let threadCount, !(1...256).contains(threadCount) {
            throw ValidationError("--threads takes a number from 1 to 256")
        }
    }

    /// Creates a scanner that ends the walk once a stop is requested (`StopRequest.isMade`).
    func scanner() -> TreeScanner {
        TreeScanner(
            threadCount: threadCount ?? TreeScanner.defaultThreadCount,
            staysOnFilesystem: staysOnFilesystem, shouldStop: { StopRequest.isMade })
    }
}

/// Reports errors of a walk and counts items for the progress; each thread has one.
struct WalkReporter {
    private let outcome: Outcome
    private var counter: ItemCounter

    init(_ outcome: Outcome, _ progress: Progress) {
        self.outcome = outcome
        counter = ItemCounter { progress.advance(by: $0) }
    }

    /// Counts an item.
    @inline(__always)
    mutating func count() { counter.count() }

    /// Adds what is counted to the progress; to be called at the end of a thread's part.
    mutating func finish() { counter.finish() }

    /// Reports an error and notes the failure.
    func report(_ error: FileError) {
        Messages.write(error)
        outcome.noteFailure()
    }

    /// Reports an error for an entry, unless the entry was removed since its directory was read.
    func report(entry error: FileError) {
        if error.code != .noSuchFile { report(error) }
    }

    /// Returns the status of an entry; nil, after a report, if it cannot be read.
    func status(of entry: borrowing TreeEntry) -> FileStatus? {
        do throws(Errno) {
            return try entry.status()
        } catch {
            report(entry: FileError(error, of: entry.path))
            return nil
        }
    }

    /// Reports the malformed and unreadable marks of an item.
    func report(brokenIn marks: Marks, at entry: borrowing TreeEntry) {
        for error in marks.errors(at: entry) { report(error) }
    }

    /// Reports the marks of other programs that cannot be read, or are not certain.
    func report(_ issues: [PolicyIssue], of entry: borrowing TreeEntry) {
        for issue in issues {
            switch issue {
            case .unreadableMarker(_, let errno):
                report(
                    FileError(
                        code: .other, message: issue.sentence, path: entry.path, errno: errno))
            case .uncertainMarker: Messages.warn(about: entry.path.bytes, issue.sentence)
            default: break
            }
        }
    }
}
