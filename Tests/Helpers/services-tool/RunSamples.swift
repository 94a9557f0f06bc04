import StorageServicesDropIn

/// Runs the samples of protected data, memory warnings and metrics, and prints what they noticed.
@MainActor
func runSamples(in directory: URL) throws {
    let file = directory.appendingPathComponent("letter")
    try Data("text".utf8).write(to: file)
    try observeProtectedData(in: file)
    observeMemoryWarnings()
    let manager = MXMetricManager.shared
    manager.dataDirectories = [directory]
    let service = MetricService()
    let names = [
        UIApplication.protectedDataWillBecomeUnavailableNotification,
        UIApplication.protectedDataDidBecomeAvailableNotification,
        UIApplication.didReceiveMemoryWarningNotification,
    ]
    for name in names { NotificationCenter.default.post(name: name, object: nil) }
    let end = Date(timeIntervalSinceNow: 60)
    while manager.pastPayloads.isEmpty, Date() < end {
        RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
    }
    // Subscribers have been called when the manager's queue has done what it was doing.
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
    guard let payload = manager.pastPayloads.last else { return print("no payload") }
    print(String(decoding: payload.jsonRepresentation(), as: UTF8.self), terminator: "")
    manager.remove(service)
}
