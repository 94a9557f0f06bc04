import StorageServicesDropIn

/// Submits, replaces, lists and cancels requests that are due in an hour and later.
func showPending() async throws {
    let scheduler = BGTaskScheduler.shared
    let identifiers = (0..<11).map { "task-\($0)" } + ["refresh", "other refresh"]
    for identifier in identifiers {
        guard
            scheduler.register(
                forTaskWithIdentifier: identifier, using: nil, launchHandler: { _ in })
        else { return print("not registered: \(identifier)") }
    }
    let hour = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 3600).rounded(.down))
    func submit(_ request: BGTaskRequest, _ date: Date) throws {
        request.earliestBeginDate = date
        try scheduler.submit(request)
    }
    func show(_ what: String) async {
        let requests = await scheduler.pendingTaskRequests()
        let names = requests.map(\.identifier).sorted()
        print("\(what): \(names.isEmpty ? "none" : names.joined(separator: " "))")
    }
    await show("at first")
    for identifier in identifiers.prefix(10) {
        try submit(BGProcessingTaskRequest(identifier: identifier), hour)
    }
    do {
        try submit(BGProcessingTaskRequest(identifier: "task-10"), hour)
    } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
        print("an eleventh: too many")
    }
    try submit(BGAppRefreshTaskRequest(identifier: "refresh"), hour)
    do {
        try submit(BGAppRefreshTaskRequest(identifier: "other refresh"), hour)
    } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
        print("a second refresh: too many")
    }
    let replacing = BGProcessingTaskRequest(identifier: "task-3")
    replacing.requiresExternalPower = true
    try submit(replacing, hour.addingTimeInterval(60))
    await show("submitted")
    let replaced = await scheduler.pendingTaskRequests().first { $0.identifier == "task-3" }
    print("replaced:", replaced?.earliestBeginDate == hour.addingTimeInterval(60))
    print("power:", (replaced as? BGProcessingTaskRequest)?.requiresExternalPower ?? false)
    for identifier in identifiers.dropFirst().prefix(9) {
        scheduler.cancel(taskRequestWithIdentifier: identifier)
    }
    await show("some cancelled")
    scheduler.cancelAllTaskRequests()
    await show("all cancelled")
}

/// Lists and cancels a request, and submits it again, when the program's file was removed.
func showWithoutFile() async throws {
    let scheduler = BGTaskScheduler.shared
    scheduler.register(forTaskWithIdentifier: "task", using: nil, launchHandler: { _ in })
    let request = BGProcessingTaskRequest(identifier: "task")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
    try scheduler.submit(request)
    try FileManager.default.removeItem(atPath: CommandLine.arguments[0])
    print("removed:", await scheduler.pendingTaskRequests().count)
    scheduler.cancelAllTaskRequests()
    print("cancelled:", await scheduler.pendingTaskRequests().count)
    fflush(nil)
    try scheduler.submit(request)
}
