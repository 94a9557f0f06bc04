import FileTree
import Synchronization
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Visitors", .cleansUp)
struct VisitorTests {
    @Test("are told contexts from above, depths and kinds, and finish once", arguments: [1, 2, 8])
    func contexts(threadCount: Int) throws {
        let root = try temporaryDirectory {
            Directory("a") { Directory("b") { File("f") } }
            Directory("skipped") { File("never") }
            SymbolicLink("link", to: "a")
        }
        let recorder = Recorder()
        try recorder.scan(TreeScanner(threadCount: threadCount), root)
        let found = recorder.record.entries.map {
            "\($0.context) \($0.depth) \($0.name) \($0.kind)"
        }
        #expect(
            found.sorted() == [
                " 0  directory", "/ 1 a directory",
                "/ 1 link symbolicLink", "/ 1 skipped directory", "/a/ 2 b directory",
                "/a/b/ 3 f regularFile",
            ])
        #expect(recorder.record.finished.sorted() == Array(0..<threadCount))
    }

    @Test("are told the end of each directory once, after all that is below", arguments: [1, 2, 8])
    func ends(threadCount: Int) throws {
        let root = try temporaryDirectory {
            for number in 0..<10 {
                Directory("\(number)") {
                    Directory("a") { File("f") }
                    Directory("b") { NestedDirectories("d", depth: 30) { File("f") } }
                    Directory("skipped") { File("never") }
                }
            }
            Directory("large")
        }
        try makeFiles(5000, in: root.appending("large"))
        let steps = Monitor<[Step]>([])
        try TreeScanner(threadCount: threadCount).scan([TreeRoot(root, context: [])]) { _ in
            StepVisitor(steps: steps)
        }
        let found = steps.withLock { $0 }
        let entered = found.filter { $0.isEntered }.map(\.path)
        #expect(entered.count == 2 + 10 * 33)
        var left: Set<[[UInt8]]> = []
        for step in found {
            if step.isEnd { #expect(left.insert(step.path).inserted) }
            // Two threads may be told the ends of a directory and of one in it at once.
            guard !step.isEnd || threadCount == 1 else { continue }
            for count in 0..<step.path.count {
                #expect(!left.contains(Array(step.path[..<count])))
            }
        }
        #expect(left == Set(entered))
    }

    private struct Step: Sendable {
        /// The names below the root.
        let path: [[UInt8]]
        var isEntered = false
        var isEnd = false
    }

    private struct StepVisitor: TreeVisitor {
        let steps: Monitor<[Step]>

        mutating func visit(
            _ entry: borrowing TreeEntry, in context: [[UInt8]]
        ) -> Descent<[[UInt8]]> {
            let path = entry.depth == 0 ? [] : context + [entry.nameBytes]
            let isEntered = entry.kind == .directory && path.last != Array("skipped".utf8)
            steps.withLock { $0.append(Step(path: path, isEntered: isEntered)) }
            return isEntered ? .descend(path) : .skip
        }

        mutating func leave(_ context: [[UInt8]]) {
            steps.withLock { $0.append(Step(path: context, isEnd: true)) }
        }

        mutating func cannotRead(_ error: FileError) { Issue.record(error) }

        mutating func finish() {}
    }

    @Test("hear of at most one more entry each once the walk shall stop", arguments: [1, 2, 8])
    func stop(threadCount: Int) throws {
        let root = try temporaryDirectory()
        try makeFiles(20_000, in: root)
        let visits = Atomic(0)
        let limit = 500
        let scanner = TreeScanner(
            threadCount: threadCount, shouldStop: { visits.load(ordering: .relaxed) >= limit })
        let recorder = Recorder { _ in visits.add(1, ordering: .relaxed) }
        try recorder.scan(scanner, root)
        #expect(recorder.record.entries.count >= limit)
        #expect(recorder.record.entries.count <= limit + threadCount)
        #expect(recorder.record.finished.count == threadCount)
        #expect(recorder.record.failures.isEmpty)
    }

    @Test("hear of nothing when the walk shall stop at once")
    func stopAtOnce() throws {
        let root = try temporaryDirectory { File("f") }
        let recorder = Recorder()
        try recorder.scan(TreeScanner(shouldStop: { true }), root)
        #expect(recorder.record.entries.isEmpty)
    }

    @Test("leave no descriptor open when the walk stops early", arguments: WalkTool.allWays)
    func stopLeaksNothing(tool: WalkTool) throws {
        let root = try temporaryDirectory {
            for name in ["a", "b", "c"] as [FileName] {
                NestedDirectories(name, depth: 100) { File("f") }
            }
        }
        for count in [1, 50, 250] {
            var tool = tool
            tool.options = ["--stop-after", "\(count)"]
            let summary = try tool.summary(root)
            try #expect(summary.number("entries") >= count)
            try #expect(summary.number("entries") <= count + tool.threadCount)
            try #expect(summary.number("finished") == tool.threadCount)
            summary.expectNothingLeftBehind()
        }
    }

    @Test("take no more than 64 MiB of memory for a million entries", arguments: [1, 8])
    func memory(threadCount: Int) throws {
        let filesystem = try filesystem(.tmpfs, options: ["nr_inodes=1100k"])
        for number in 0..<1000 {
            let name = "\(number)" as FileName
            try Tree { Directory(name) }.create(in: filesystem.root)
            try makeFiles(1000, in: filesystem.root.appending(name))
        }
        let summary = try WalkTool(threadCount: threadCount).summary(filesystem.root)
        try #expect(summary.number("entries") == 1_001_001)
        try #expect(summary.number("peak KiB") <= 64 * 1024)
        try #expect(summary.number("peak KiB") > 1024)
    }
}
