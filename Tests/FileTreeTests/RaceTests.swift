import Glibc
import Synchronization
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import FileTree

@Suite("While a tree changes", .cleansUp)
struct RaceTests {
    @Test("entries that come and go make no errors", arguments: [1, 8])
    func comingAndGoing(threadCount: Int) throws {
        let root = try temporaryDirectory {
            for number in 0..<20 { Directory("stays\(number)") { File("d/f") } }
        }
        let recorder = try scan(root, threadCount) { turn in
            let name = root.appending("stays\(turn % 20)").appending("new\(turn % 7)").string
            mkdir(name, 0o755)
            mkdir(name + "/in", 0o755)
            rename(name + "/in", name + "/other")
            rename(name, name + "-moved")
            rmdir(name + "-moved/other")
            rmdir(name + "-moved")
        }
        #expect(recorder.record.failures.isEmpty)
        let outside = recorder.record.entries.filter { !$0.path.starts(with: root.bytes) }
        #expect(outside.isEmpty)
    }

    @Test("a directory that turns into a link to outside is never followed", arguments: [1, 8])
    func linkInPlaceOfDirectory(threadCount: Int) throws {
        let base = try temporaryDirectory {
            File("outside/secret")
            File("outside/inner/secret")
            Directory("root") { Directory("swap") { Directory("inner") { File("plain") } } }
        }
        let root = base.appending("root")
        let (swap, real) = (root.appending("swap").string, base.appending("real").string)
        let recorder = try scan(root, threadCount, until: "plain") { _ in
            rename(swap, real)
            symlink("../outside", swap)
            unlink(swap)
            rename(real, swap)
        }
        let names = Set(recorder.record.entries.map(\.name))
        #expect(names.contains("plain"))
        #expect(!names.contains("secret"))
        #expect(recorder.record.failures.allSatisfy { $0.code == .changed })
    }

    // Deeper than directories are kept open, so that the way back leads through names. A directory
    // is moved away, and perhaps replaced, and one below is moved out of it: neither way is left to
    // those between.
    @Test("a directory that cannot be reached any more is reported once", arguments: [true, false])
    func lostDirectory(isReplaced: Bool) throws {
        let base = try temporaryDirectory { Directory("root") }
        let levels = try makeLevels(60, below: base.appending("root"))
        let (away, moved) = (base.appending("away").string, base.appending("moved").string)
        let hasMoved = Atomic(false)
        let recorder = Recorder { depth in
            guard depth == 50, !hasMoved.exchange(true, ordering: .relaxed) else { return }
            rename(levels[20], moved)
            rename(levels[10], away)
            if isReplaced { mkdir(levels[10], 0o755) }
        }
        var scanner = TreeScanner(threadCount: 1)
        scanner.openDirectoryLimit = 16
        try recorder.scan(scanner, FilePath(levels[0]))
        let lost = recorder.record.failures
        // Those whose other directories were still to be walked, which depends on the order the
        // filesystem lists them in.
        #expect((1...10).contains(lost.count), "\(lost)")
        #expect(lost.allSatisfy { $0.code == (isReplaced ? .changed : .noSuchFile) })
        #expect(Set(lost.map(\.path)).count == lost.count)
    }

    /// Makes directories in one another, each with five others beside it.
    ///
    /// - Returns: their paths, `root` first. Their names differ, and so do their places in the order
    ///   a filesystem lists them in.
    private func makeLevels(_ count: Int, below root: FilePath) throws -> [String] {
        var levels = [root.string]
        for level in 1...count {
            let directory = levels[level - 1]
            for name in (1...5).map({ "beside\($0)" }) + ["level\(level)"] {
                try #require(mkdir("\(directory)/\(name)", 0o755) == 0)
            }
            levels.append("\(directory)/level\(level)")
        }
        return levels
    }

    /// Scans again and again for two seconds while another thread changes the tree.
    /// Scans for two seconds, and on a busy machine longer, until `name` was met, too.
    private func scan(
        _ root: FilePath, _ threadCount: Int, until name: String = "",
        _ change: @escaping @Sendable (Int) -> Void
    ) throws -> Recorder {
        let changer = Changer(change)
        let recorder = Recorder()
        let start = ContinuousClock.now
        var scans = 0
        func isDone() -> Bool {
            scans > 10 && recorder.record.entries.contains { $0.name == name }
        }
        while .now - start < .seconds(2) || (!isDone() && .now - start < .seconds(60)) {
            try recorder.scan(TreeScanner(threadCount: threadCount), root)
            scans += 1
        }
        let turns = changer.stop()
        #expect(scans > 10)
        #expect(turns > 10)
        return recorder
    }
}

/// A thread that changes a tree until it is stopped.
private final class Changer: Sendable {
    private let isStopping = Atomic(false)
    private let turns = Atomic(0)
    private let hasEnded = Atomic(false)
    private let change: @Sendable (Int) -> Void

    init(_ change: @escaping @Sendable (Int) -> Void) {
        self.change = change
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Changer>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        pthread_detach(thread)
    }

    private func run() {
        while !isStopping.load(ordering: .acquiring) {
            change(turns.add(1, ordering: .relaxed).newValue)
        }
        hasEnded.store(true, ordering: .releasing)
    }

    /// Waits for the last change, and gives how many there were.
    func stop() -> Int {
        isStopping.store(true, ordering: .releasing)
        while !hasEnded.load(ordering: .acquiring) { usleep(100) }
        return turns.load(ordering: .relaxed)
    }
}
