import ResourceValuesDropIn
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("The application")
struct ApplicationTests {
    @Test("protected data is available while no class is enforced")
    func protectedData() async throws {
        #expect(ProtectedData.isAvailable)
        #expect(UIApplication.shared.isProtectedDataAvailable)
        let hasEnded = Monitor(false)
        let task = Task {
            var changes: [ProtectedData.Change] = []
            for await change in ProtectedData.changes { changes.append(change) }
            hasEnded.withLock { $0 = true }
            return changes
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(!hasEnded.withLock { $0 })
        task.cancel()
        #expect(await task.value == [])
    }

    @Test("why memory pressure is not reported can be asked")
    func obstacles() throws {
        try withTemporaryDirectory(containing: Tree { Directory("directory") }) { root in
            for name in ["missing", "directory"] {
                let monitor = MemoryPressureMonitor(root.appending(name)) {}
                let reason = try #require(monitor.start())
                #expect(reason.contains(name))
                #expect(monitor.start() == reason)
            }
        }
    }

    @Test("the kernel accepts the trigger")
    func trigger() throws {
        let file: FilePath = "/proc/pressure/memory"
        guard (try? contentsOfFile(file)) != nil else {
            try Test.cancel("skipped: the kernel has no pressure stall information")
        }
        #expect(MemoryPressureMonitor(file) {}.start() == nil)
        #expect(UIApplication.shared.memoryWarningObstacle == nil)
    }
}
