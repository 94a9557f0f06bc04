import CommandSupport
import FileTree
import ResourceValues

/// Reports errors of a walk and counts items for the progress; each thread has one.
struct WalkReporter {
    private let outcome: Outcome
    private let progress: Progress
    private var uncounted = 0

    init(_ outcome: Outcome, _ progress: Progress) {
        self.outcome = outcome
        self.progress = progress
    }

    /// Counts an item.
    @inline(__always)
    mutating func count() {
        uncounted += 1
        if uncounted == 1024 {
            progress.advance(by: 1024)
            uncounted = 0
        }
    }

    /// Reports an error and notes the failure.
    func report(_ error: FileError) {
        Messages.write(error)
        outcome.noteFailure()
    }

    /// Reports an error for an entry, unless the entry was removed since its directory was read.
    func report(entry error: FileError) {
        if error.code != .noSuchFile { report(error) }
    }

    /// Reports the malformed and unreadable marks of an item.
    func report(brokenIn marks: Marks, at entry: borrowing TreeEntry) {
        for error in marks.errors(at: entry) { report(error) }
    }
}
