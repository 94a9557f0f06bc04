import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

struct WalkOptions: ParsableArguments {
    @Flag(
        name: [.customShort("x"), .customLong("one-file-system")],
        help: "Do not go into other filesystems.")
    var staysOnFilesystem = false

    /// Creates a scanner that ends the walk once a stop is requested (`StopRequest.isMade`).
    func scanner(threadCount: Int? = nil) -> TreeScanner {
        TreeScanner(
            threadCount: threadCount ?? TreeScanner.defaultThreadCount,
            staysOnFilesystem: staysOnFilesystem, shouldStop: { StopRequest.isMade })
    }
}

struct RootOptions: ParsableArguments {
    @Argument(help: "Where to begin. (default: the current directory)")
    var roots: [PathOperand] = []

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    var paths: [PathArgument] { roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths }

    func run(_ body: (CommandRun) throws -> Void) throws {
        try CommandRun.run(progressOptions, counting: "items examined", body)
    }

    /// Returns where a walk begins; a ROOT for which `context` throws an error is reported instead.
    func starts<Context>(
        _ run: CommandRun, context: (PathArgument) throws(FileError) -> Context
    ) -> [TreeRoot<Context>] {
        var starts: [TreeRoot<Context>] = []
        for root in paths {
            do throws(FileError) {
                starts.append(TreeRoot(root.path, context: try context(root)))
            } catch {
                run.outcome.report(error, at: root.bytes)
            }
        }
        return starts
    }
}

struct ThreadOptions: ParsableArguments {
    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("threads")],
        help: ArgumentHelp("Walk with this many threads.", valueName: "n"))
    var count: Int?

    func validate() throws {
        if let count, !(1...256).contains(count) {
            throw ValidationError("--threads takes a number from 1 to 256")
        }
    }
}

/// One run of a command that takes a while: what it ends with, and its progress. Threads share it.
final class CommandRun: Sendable {
    let outcome = Outcome()
    let progress: Progress

    private init(_ progress: Progress) { self.progress = progress }

    /// Runs the work of a command, and throws its exit code unless that is 0.
    ///
    /// - Parameter noun: the items counted, in the plural.
    static func run(
        _ options: ProgressOptions, counting noun: StaticString,
        _ body: (CommandRun) throws -> Void
    ) throws {
        let run = CommandRun(options.begin(counting: noun))
        defer { run.progress.end() }
        try body(run)
        try run.outcome.finish()
    }
}

/// A visitor of a command's walk, which reports what cannot be read. Each thread has one.
protocol CommandVisitor: TreeVisitor {
    var reporter: WalkReporter { get set }

    /// Visits an entry. An error is reported, and nothing below the entry is visited.
    mutating func look(
        at entry: borrowing TreeEntry, in context: Context
    ) throws(FileError) -> Descent<Context>

    /// Writes what the thread still has, at the end of its part.
    mutating func flush()
}

extension CommandVisitor {
    mutating func visit(
        _ entry: borrowing TreeEntry, in context: Context
    ) -> Descent<Context> {
        reporter.count()
        if reporter.isOwnState(entry) { return .skip }
        do throws(FileError) {
            return try look(at: entry, in: context)
        } catch {
            reporter.report(entry: error)
            return .skip
        }
    }

    mutating func cannotRead(_ error: FileError) { reporter.outcome.report(error) }

    mutating func finish() {
        flush()
        reporter.finish()
    }

    mutating func flush() {}
}

/// The output of one thread of a walk: a reference, since visitors are copied.
final class ThreadOutput {
    var buffer = OutputBuffer()
}

/// Reports errors of a walk and counts items for the progress; each thread has one.
struct WalkReporter {
    let outcome: Outcome
    private var counter: ItemCounter
    /// The state directory of these programs, by its real name; nil if there is none.
    private let ownState: (name: [UInt8], identity: FileIdentity)?

    /// - Parameter outcome: what failures are noted in; nil for that of the run.
    init(_ run: CommandRun, _ outcome: Outcome? = nil) {
        self.outcome = outcome ?? run.outcome
        counter = ItemCounter { run.progress.advance(by: $0) }
        let state = (try? StateDirectory.path()).flatMap { try? NamedItem(at: $0) }
        ownState = state.map { ($0.path.lastName.bytes, $0.status.identity) }
    }

    /// Whether an entry is the state directory of these programs, which a walk passes over unless
    /// it begins there.
    func isOwnState(_ entry: borrowing TreeEntry) -> Bool {
        guard let ownState, entry.depth > 0,
            entry.withName({ $0.elementsEqual(ownState.name) })
        else { return false }
        return (try? entry.status())?.identity == ownState.identity
    }

    @inline(__always)
    mutating func count() { counter.count() }

    mutating func finish() { counter.finish() }

    /// Reports an error for an entry, unless the entry was removed since its directory was read.
    func report(entry error: FileError) {
        if error.code != .noSuchFile { outcome.report(error) }
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

    /// Returns the marks stored on an entry, after a report of what is broken or cannot be read; nil if
    /// there are none.
    func storedMarks(of entry: borrowing TreeEntry) -> Marks? {
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown, entry.mayHaveMarks()
        else { return nil }
        do throws(FileError) {
            let marks = try entry.marks()
            report(brokenIn: marks, at: entry)
            return marks.isEmpty ? nil : marks
        } catch {
            report(entry: error)
            return nil
        }
    }

    /// Returns the marks of an entry after a report of what is broken; none, after a report, if they
    /// cannot be read, because what is below still inherits from the directories above.
    func marks(of entry: borrowing TreeEntry, by reader: MarkReader) -> ItemMarks {
        var marks = ItemMarks.none
        do throws(FileError) {
            marks = try reader.marks(of: entry, kind: entry.kind)
        } catch {
            report(entry: error)
        }
        report(brokenIn: marks.native, at: entry)
        return marks
    }

    func report(brokenIn marks: Marks, at entry: borrowing TreeEntry) {
        for error in marks.errors(at: entry) { outcome.report(error) }
    }

    /// Reports the marks of other programs that cannot be read, or are not certain.
    func report(_ issues: [PolicyIssue], of entry: borrowing TreeEntry) {
        for issue in issues {
            switch issue {
            case .unreadableMarker(_, let errno):
                outcome.report(
                    FileError(
                        code: .other, message: issue.sentence, path: entry.path, errno: errno))
            case .uncertainMarker: Messages.warn(about: entry.path.bytes, issue.sentence)
            default: break
            }
        }
    }
}
