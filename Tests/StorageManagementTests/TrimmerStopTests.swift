import PurgePlanning
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("CacheTrimmer, stopped and beside others", .cleansUp)
struct TrimmerStopTests {
    private let files = Tree {
        File("a", block); File("b", block); File("c", block)
    }

    @Test("a trimmer that was stopped does nothing, and says so")
    func stopped() throws {
        let (trimmer, app) = try cache(files)
        trimmer.stop()
        for outcome in try [trimmer.trim(toSize: 0), trimmer.removeItems(olderThan: 0)] {
            #expect(outcome.isStopped)
            #expect(outcome.removedCount == 0)
        }
        #expect(throws: CancellationError.self) { try trimmer.allocatedSize() }
        try #expect(names(in: app) == ["a", "b", "c"])
    }

    @Test("a call that reaches its goal, or removes all that it may, was not stopped")
    func notStopped() throws {
        let (trimmer, _) = try cache(files)
        let outcome = try trimmer.trim(toSize: trimmer.allocatedSize() - 1)
        #expect(outcome.removedCount == 1)
        #expect(!outcome.isStopped)
        #expect(try !trimmer.removeItems(olderThan: 0).isStopped)
    }

    #if MOCKING
    @Test("a stop in between ends the call before the next unit; what was removed is reported")
    func stoppedBetween() throws {
        let (trimmer, app) = try cache(files)
        let mock = SystemCallMock([:])
        mock.beforeCall = { call in if call == .unlinkat { trimmer.stop() } }
        let outcome = try mock.run { try trimmer.removeItems(olderThan: 0) }
        #expect(outcome.removedCount == 1)
        #expect(outcome.freedBytes >= 100_000)
        #expect(outcome.isStopped)
        try #expect(names(in: app).count == 2)
    }

    @Test("a directory whose removal has begun is removed as a whole")
    func stoppedInside() throws {
        let tree = Tree {
            File("x/1", block)
            File("x/2", block)
            File("y/1", block)
            File("y/2", block)
        }
        let (trimmer, app) = try cache(tree)
        let mock = SystemCallMock([:])
        mock.beforeCall = { call in if call == .unlinkat { trimmer.stop() } }
        let outcome = try mock.run { try trimmer.removeItems(olderThan: 0) }
        #expect(outcome.removedCount == 1)
        #expect(outcome.isStopped)
        try #expect(names(in: app).count == 3)
    }

    @Test("nothing is written out on the whole volume")
    func noSynchronization() throws {
        let tree = Tree {
            File("a", block)
            Directory("x") { File("1", block) }
        }
        let (trimmer, app) = try cache(tree)
        let mock = SystemCallMock([:])
        try mock.run { try #expect(trimmer.trim(toSize: 0).removedCount == 2) }
        #expect(mock.calls[.unlinkat] == 3)
        #expect(mock.calls[.syncfs] == nil)
        try #expect(names(in: app).isEmpty)
    }
    #endif

    @Test("the cancellation of a task stops a call, and is seen by all its threads")
    func cancelled() async throws {
        let home = try temporaryDirectory()
        let app = home.appending(".cache/app")
        try tool("mkdir", "-p", app)
        try files.create(in: app)
        let trimmer = try trimmer(of: app, in: home)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let outcome = try trimmer.removeItems(olderThan: 0)
            #expect(throws: CancellationError.self) { try trimmer.allocatedSize() }
            return outcome
        }
        let outcome = try await task.value
        #expect(outcome.isStopped)
        #expect(outcome.removedCount == 0)
        // Only the calls in that task end.
        try #expect(trimmer.removeItems(olderThan: 0).removedCount == 3)
    }

    @Test("several trimmers of one user work at once, and each removes its own")
    func together() async throws {
        let home = try temporaryDirectory()
        let apps = (0..<4).map { home.appending(".cache/app\($0)") }
        for app in apps {
            try tool("mkdir", "-p", app)
            let script = """
                cd "$0"; for i in $(seq 20); do
                    mkdir -p $i/below; echo x > $i/below/f; echo x > f$i
                done
                """
            try tool("sh", "-c", script, app)
        }
        let outcomes = try await withThrowingTaskGroup { group in
            for app in apps {
                group.addTask {
                    try trimmer(of: app, in: home).removeItems(olderThan: 0)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.map(\.removedCount) == [40, 40, 40, 40])
        #expect(outcomes.allSatisfy { $0.kept.isEmpty && $0.failures.isEmpty })
        for app in apps { try #expect(names(in: app).isEmpty) }
    }

    @Test("while another purge works, files go at once, and a directory waits for it or for a stop")
    func besidePurge() async throws {
        let home = try temporaryDirectory()
        let app = home.appending(".cache/app")
        let state = home.appending(".local/state/resval/purge")
        try tool("mkdir", "-p", app)
        try tool("mkdir", "-p", "-m", "700", state)
        try files.create(in: app)
        let journal = OwnedDescriptor(
            try makeFile(
                state.appending("journal"), in: .workingDirectory, permissions: 0o600))
        try #expect(takeLock(on: journal.descriptor))
        let trimmer = try trimmer(of: app, in: home)
        try #expect(trimmer.removeItems(olderThan: 0).removedCount == 3)

        try Tree { Directory("x") { File("1", block) } }.create(in: app)
        let task = Task.detached { try trimmer.removeItems(olderThan: 0) }
        try await Task.sleep(for: .milliseconds(500))
        task.cancel()
        let outcome = try await task.value
        #expect(outcome.isStopped)
        try #expect(names(in: app) == ["x", "x/1"])

        let later = Task.detached { try trimmer.removeItems(olderThan: 0) }
        try await Task.sleep(for: .milliseconds(500))
        try #expect(names(in: app) == ["x", "x/1"])
        _ = consume journal
        try await #expect(later.value.removedCount == 1)
        try #expect(names(in: app).isEmpty)
    }
}
