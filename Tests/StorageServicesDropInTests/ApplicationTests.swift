import ResourceValuesDropIn
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("The application", .cleansUp)
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
        let root = try temporaryDirectory { Directory("directory") }
        for name in ["missing", "directory"] {
            let monitor = MemoryPressureMonitor(root.appending(name)) {}
            let reason = try #require(monitor.start())
            #expect(reason.contains(name))
            #expect(monitor.start() == reason)
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

    @Test("a group of processes that waits for memory is reported")
    func pressure() throws {
        try require(.root)
        let count = Monitor(0)
        // Any stall of any task: the usual limit would need a machine that stands still.
        let monitor = MemoryPressureMonitor(isFull: false, stall: .microseconds(1)) {
            count.withLock { $0 += 1 }
        }
        guard monitor.start() == nil else { try Test.cancel("skipped: no trigger can be set") }
        let root = try temporaryDirectory()
        let script = """
            groups=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
            if [ ! -d $groups ]; then
                groups=/sys/fs/cgroup limit=memory.max
                echo +memory > $groups/cgroup.subtree_control
            fi
            group=$groups/resval-test.$$
            mkdir $group && echo 20M > $group/$limit || exit 3
            (
                echo $BASHPID > $group/cgroup.procs
                head --bytes 150M /dev/zero > "$1"
                for _ in 1 2 3; do cat "$1"; done
            ) > /dev/null
            rm "$1"
            for _ in $(seq 50); do rmdir $group && exit 0; sleep 0.1; done 2> /dev/null
            """
        // How long the group waits for memory depends on what else the machine does.
        let end = Date(timeIntervalSinceNow: 120)
        repeat {
            let result = try Command(
                "/bin/bash", "-c", script, "bash", root.appending("file")
            ).run()
            guard result.exitCode != 3 else { try Test.cancel("skipped: \(result)") }
            #expect(result.exitCode == 0, "\(result)")
            usleep(500_000)
        } while count.withLock { $0 } == 0 && Date() < end
        #expect(count.withLock { $0 } > 0)
    }
}
