import ResourceValuesDropIn
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("The scheduler without a service manager", .cleansUp)
struct SchedulerTests {
    @Test("an identifier is registered once, and one without a unit never")
    func registering() {
        let scheduler = BGTaskScheduler.shared
        let identifier = "test.\(UInt64.random(in: .min ... .max))"
        #expect(scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in })
        #expect(!scheduler.register(forTaskWithIdentifier: "", using: nil) { _ in })
        let long = String(repeating: "a", count: 256)
        #expect(!scheduler.register(forTaskWithIdentifier: long, using: nil) { _ in })
        #expect(scheduler.identifierOfDueTask == nil)
    }

    @Test("what is not registered is not permitted")
    func notRegistered() {
        #expect(code { try BGTaskScheduler.shared.submit(.init(unknown: ())) } == .notPermitted)
    }

    @Test("without systemd a request is an error, and nothing is pending")
    func unavailable() throws {
        let root = try temporaryDirectory()
        let log = root.appending("log")
        var command = Command(.built("services-tool"), "cleanup", log)
        // A directory of the manager that leads nowhere, and a user without a manager.
        command.environment["XDG_RUNTIME_DIR"] = root.string
        try require(.root)
        command.user = 54321
        try tool("chmod", "777", root)
        let result = try command.run()
        #expect(result.exitCode != 0)
        #expect(result.errorText.contains("systemd has no manager for this user"), "\(result)")
        #expect(!result.text.contains("submitted"))
    }

    @Test("errors have Apple's codes, and match in catch clauses")
    func errors() {
        let error: any Error = BGTaskScheduler.Error(.notPermitted, "no")
        #expect(BGTaskScheduler.Error.notPermitted ~= error)
        #expect(!(BGTaskScheduler.Error.unavailable ~= error))
        #expect((error as NSError).domain == "BGTaskSchedulerErrorDomain")
        #expect((error as NSError).code == 3)
        #expect(error.localizedDescription == "no")
        do {
            throw BGTaskScheduler.Error(.notPermitted, "no")
        } catch let error as NSError {
            #expect(error.code == 3)
            #expect(error.localizedDescription == "no")
        }
        #expect(BGTaskScheduler.Error.Code.unavailable.rawValue == 1)
        #expect(BGTaskScheduler.Error.Code.tooManyPendingTaskRequests.rawValue == 2)
    }

    private func code(_ body: () throws -> Void) -> BGTaskScheduler.Error.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? BGTaskScheduler.Error)?.code
        }
    }
}

extension BGTaskRequest {
    fileprivate convenience init(unknown: Void) { self.init("unknown", runLimit: 1) }
}
