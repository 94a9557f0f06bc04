import ResourceValuesDropIn
import SystemCalls
import Testing

@testable import StorageServicesDropIn

@Suite("A task that runs")
struct TaskTests {
    @Test("the expiration handler is called once unless the task is completed, which it is once")
    func once() {
        for isCompletedBefore in [false, true] {
            let (results, calls) = (Monitor<[Bool]>([]), Monitor(0))
            let task = BGProcessingTask("a") { success in results.withLock { $0.append(success) } }
            task.expirationHandler = { calls.withLock { $0 += 1 } }
            if isCompletedBefore { task.setTaskCompleted(success: true) }
            task.expire()
            #expect(calls.withLock { $0 } == (isCompletedBefore ? 0 : 1))
            #expect(results.withLock { $0 } == (isCompletedBefore ? [true] : []))
            task.setTaskCompleted(success: true)
            task.setTaskCompleted(success: false)
            task.expire()
            #expect(calls.withLock { $0 } == (isCompletedBefore ? 0 : 1))
            #expect(results.withLock { $0 } == [true])
        }
    }

    @Test("without a handler the end of the time is a failure")
    func noHandler() {
        let results = Monitor<[Bool]>([])
        BGAppRefreshTask("a") { success in results.withLock { $0.append(success) } }.expire()
        #expect(results.withLock { $0 } == [false])
    }
}
