import ResourceValuesDropIn
import SystemCalls
import Testing

@testable import StorageServicesDropIn

@Suite("A task that runs")
struct TaskTests {
    @Test("the expiration handler is called once, and a task is completed once")
    func once() {
        let results = Monitor<[Bool]>([])
        let task = BGProcessingTask("a") { success in results.withLock { $0.append(success) } }
        let calls = Monitor(0)
        task.expirationHandler = { calls.withLock { $0 += 1 } }
        task.expire()
        #expect(calls.withLock { $0 } == 1)
        #expect(results.withLock { $0 } == [])
        task.setTaskCompleted(success: true)
        task.setTaskCompleted(success: false)
        task.expire()
        #expect(calls.withLock { $0 } == 1)
        #expect(results.withLock { $0 } == [true])
    }

    @Test("without a handler the end of the time is a failure")
    func noHandler() {
        let results = Monitor<[Bool]>([])
        let task = BGAppRefreshTask("a") { success in results.withLock { $0.append(success) } }
        task.expire()
        #expect(results.withLock { $0 } == [false])
    }

    @Test("a completed task does not expire")
    func completed() {
        let calls = Monitor(0)
        let task = BGAppRefreshTask("a") { _ in }
        task.expirationHandler = { calls.withLock { $0 += 1 } }
        task.setTaskCompleted(success: true)
        task.expire()
        #expect(calls.withLock { $0 } == 0)
    }
}
