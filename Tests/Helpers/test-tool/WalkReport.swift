import FileTree
import Glibc
import Synchronization
import SystemCalls
import SystemPackage

/// What a walk met, gathered from all threads.
final class WalkReport: Sendable {
    struct Total: Sendable {
        var entries = 0
        var directories = 0
        var errors = 0
        var finished = 0
        var deepest = 0
        var paths: [UInt8] = []
        var failures: [UInt8] = []

        mutating func add(_ other: Total) {
            entries += other.entries
            directories += other.directories
            errors += other.errors
            finished += other.finished
            deepest = max(deepest, other.deepest)
            paths += other.paths
            failures += other.failures
        }
    }

    private let gathered = Monitor(Total())
    private let visits = Atomic(0)

    var total: Total { gathered.withLock { $0 } }

    func add(_ total: Total) { gathered.withLock { $0.add(total) } }

    func noteVisit() { visits.add(1, ordering: .relaxed) }

    func walk(_ options: WalkOptions) throws {
        let scanner = TreeScanner(
            threadCount: options.threadCount, staysOnFilesystem: options.staysOnFilesystem,
            followsRoots: options.followsRoots,
            shouldStop: { self.visits.load(ordering: .relaxed) >= options.stopAfter })
        try scanner.scan(options.roots.map { TreeRoot($0) }) { _ in
            Visitor(self, keepsPaths: !options.isSummary)
        }
    }

    func printAll() throws {
        let total = total
        try FileDescriptor.standardOutput.writeAll(total.paths + total.failures)
    }

    func printSummary(_ before: ProcessState, _ after: ProcessState) {
        let total = total
        print("entries \(total.entries)")
        print("directories \(total.directories)")
        print("errors \(total.errors)")
        print("finished \(total.finished)")
        print("deepest \(total.deepest)")
        print("leaked descriptors \(after.descriptorCount - before.descriptorCount)")
        print("same working directory \(after.workingDirectory == before.workingDirectory)")
        print("peak KiB \(after.peakKibibytes)")
    }
}

private struct Visitor: TreeVisitor {
    private let report: WalkReport
    private let keepsPaths: Bool
    private var found = WalkReport.Total()

    init(_ report: WalkReport, keepsPaths: Bool) {
        self.report = report
        self.keepsPaths = keepsPaths
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        report.noteVisit()
        found.entries += 1
        found.directories += entry.kind == .directory ? 1 : 0
        found.deepest = max(found.deepest, entry.depth)
        if keepsPaths {
            entry.appendPath(to: &found.paths)
            found.paths.append(0)
        }
        return .descend(())
    }

    mutating func cannotRead(_ error: FileError) {
        found.errors += 1
        found.failures += Array("! \(error.code) ".utf8)
        error.path?.withPlatformString { path in
            found.failures += UnsafeBufferPointer(start: path, count: strlen(path))
                .map { UInt8(bitPattern: $0) }
        }
        found.failures.append(0)
    }

    mutating func finish() {
        found.finished += 1
        report.add(found)
    }
}
