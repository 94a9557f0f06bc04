import StorageServicesDropIn

/// What the functions below have around them in an app.
final class BackgroundCleanup: @unchecked Sendable {
    let log: Log

    init(log: Log) { self.log = log }

    func cleanupOldFiles() {
        let isEarly = Date() < log.earliestDate()
        log.append(isEarly ? "cleaned too early" : "cleaned")
    }

    // swift-format-ignore: NeverForceUnwrap
    func registerBackgroundCleanup() {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "com.example.app.cleanup",
            using: nil
        ) { task in
            self.handleStorageCleanup(task: task as! BGProcessingTask)
        }
    }

    func handleStorageCleanup(task: BGProcessingTask) {
        task.expirationHandler = {
            task.setTaskCompleted(success: false)
        }

        // Clean up old caches
        cleanupOldFiles()

        task.setTaskCompleted(success: true)
    }
}
