import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval_purge

@Suite("Notifications of the service manager", .cleansUp)
struct NotifierTests {
    @Test("messages reach a socket with a path")
    func path() throws {
        let root = try temporaryDirectory()
        let address = root.appending("notify").string
        let listener = try #require(DatagramListener(address))
        try ServiceNotifier(socket: Array(address.utf8)).send("READY=1", "STATUS=x")
        #expect(listener.next() == "READY=1\nSTATUS=x")
        #expect(listener.next(within: 0) == nil)
    }

    @Test("messages reach a socket in the abstract namespace")
    func abstract() throws {
        let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
        let listener = try #require(DatagramListener(address))
        try ServiceNotifier(socket: Array(address.utf8)).send("STOPPING=1")
        #expect(listener.next() == "STOPPING=1")
    }

    @Test("where nobody listens, or where no address is, nothing is sent")
    func nobody() throws {
        for address in [nil, "", "relative", "vsock:2:1"] as [String?] {
            try ServiceNotifier(socket: address.map { Array($0.utf8) }).send("READY=1")
        }
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try ServiceNotifier(socket: Array("/nonexistent/socket".utf8)).send("READY=1")
        }
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: Errno.fileNameTooLong) {
            try ServiceNotifier(socket: Array(long.utf8)).send("READY=1")
        }
    }

    @Test("the watchdog is this process's, and wants to hear every so often")
    func watchdog() {
        func interval(
            _ time: String?, process: String? = nil, socket: String? = "/run/x"
        ) -> Duration? {
            ServiceNotifier(
                socket: socket.map { Array($0.utf8) },
                watchdogMicroseconds: time.map { Array($0.utf8) },
                watchdogProcess: process.map { Array($0.utf8) }, process: 42
            ).watchdogInterval
        }
        #expect(interval("3000000") == .seconds(3))
        #expect(interval("3000000", process: "42") == .seconds(3))
        #expect(interval("3000000", process: "43") == nil)
        #expect(interval("3000000", process: "x") == nil)
        #expect(interval("3000000", socket: nil) == nil)
        #expect(interval(nil) == nil)
        #expect(interval("0") == nil)
        #expect(interval("-5") == nil)
        #expect(interval("soon") == nil)
    }

    @Test("the watchdog hears of a step however long it takes, up to a limit")
    func longStep() throws {
        let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
        let listener = try #require(DatagramListener(address))
        let watchdog = Watchdog(
            ServiceNotifier(
                socket: Array(address.utf8), watchdogMicroseconds: Array("100000".utf8)),
            limit: .seconds(1))
        let start = timeSinceBoot()
        while timeSinceBoot() - start < .milliseconds(500) {
            #expect(listener.next() == "WATCHDOG=1")
        }
        sleep(for: .seconds(1)) { false }
        while listener.next(within: 0) != nil {}
        #expect(listener.next(within: 500) == nil)
        watchdog.tell()
        #expect(listener.next() == "WATCHDOG=1")
        #expect(watchdog.longestSleep == .milliseconds(500))
    }
}
