// services-tool samples DIRECTORY: runs the samples that need no service manager.
// services-tool cleanup LOG: submits a cleanup for two seconds later, and waits to be killed.
// services-tool expire LOG [WORD...]: submits a task that takes longer than its limit of five seconds.
// services-tool connected LOG: submits a task that requires a network and external power.
// services-tool removed: submits a request, removes its own file, lists, cancels and submits again.
// services-tool pending: submits, replaces, lists and cancels requests, and prints what it finds.
//
// A program for iOS that uses background tasks, metrics, protected data and memory warnings. The
// service manager starts it with the same arguments again.

import StorageServicesDropIn

let arguments = CommandLine.arguments.dropFirst()
let scheduler = BGTaskScheduler.shared
let isDue = scheduler.identifierOfDueTask != nil

func submit(_ request: BGTaskRequest, _ log: Log, after seconds: TimeInterval) throws {
    let date = Date(timeIntervalSinceNow: seconds)
    request.earliestBeginDate = date
    log.write(earliest: date)
    try scheduler.submit(request)
    print("submitted \(request.identifier)")
    fflush(nil)
}

do {
    switch (arguments.first, arguments.dropFirst().first) {
    case ("samples", let directory?):
        try runSamples(in: URL(fileURLWithPath: directory, isDirectory: true))
    case ("cleanup", let path?):
        let log = Log(path)
        let cleanup = BackgroundCleanup(log: log)
        cleanup.registerBackgroundCleanup()
        if !isDue {
            try submit(
                BGProcessingTaskRequest(identifier: "com.example.app.cleanup"), log, after: 2)
        }
        while true { sleep(1000) }
    case ("expire", let path?):
        let log = Log(path)
        scheduler.register(forTaskWithIdentifier: "expire", using: nil) { task in
            let begin = Date()
            log.append("began with \(arguments.dropFirst(2).joined(separator: " "))")
            task.expirationHandler = {
                log.append("expired after \(Int(Date().timeIntervalSince(begin).rounded())) s")
                // A second call would be seen.
                sleep(2)
                task.setTaskCompleted(success: false)
            }
        }
        if !isDue {
            let request = BGAppRefreshTaskRequest(identifier: "expire")
            request.runLimit = 5
            try submit(request, log, after: 0)
        }
    // The end of the program waits for a task that is due.
    case ("connected", let path?):
        let log = Log(path)
        scheduler.register(forTaskWithIdentifier: "connected-100% \"ä\"", using: nil) { task in
            log.append("connected")
            task.setTaskCompleted(success: true)
        }
        if !isDue {
            let request = BGProcessingTaskRequest(identifier: "connected-100% \"ä\"")
            request.requiresNetworkConnectivity = true
            request.requiresExternalPower = true
            try submit(request, log, after: 0)
        }
    case ("removed", nil):
        try await showWithoutFile()
    case ("pending", nil):
        try await showPending()
    default:
        print("usage: services-tool samples|cleanup|expire|connected|removed|pending ARGUMENT...")
        exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("services-tool: \(error.localizedDescription)\n".utf8))
    exit(1)
}
