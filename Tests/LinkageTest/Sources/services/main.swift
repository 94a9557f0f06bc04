// services DIRECTORY: registers a background task, and prints what the directory's files take.

import StorageServicesDropIn

final class Metrics: NSObject, MXMetricManagerSubscriber {
    func didReceive(_ payloads: [MXMetricPayload]) {
        for metric in payloads.compactMap(\.diskSpaceUsageMetrics) {
            print("files of data: \(metric.totalDataFileCount)")
        }
        exit(0)
    }
}

let isRegistered = BGTaskScheduler.shared.register(
    forTaskWithIdentifier: "com.example.cleanup", using: nil
) { task in task.setTaskCompleted(success: true) }
print("registered: \(isRegistered)")
print("protected data: \(UIApplication.shared.isProtectedDataAvailable)")
let metrics = Metrics()
MXMetricManager.shared.dataDirectories = [URL(fileURLWithPath: CommandLine.arguments[1])]
MXMetricManager.shared.add(metrics)
RunLoop.main.run(until: Date(timeIntervalSinceNow: 60))
