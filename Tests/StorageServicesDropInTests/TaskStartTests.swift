import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("Arguments of systemd-run", .cleansUp)
struct TaskStartTests {
    private let start = TaskStart(
        program: "/opt/album/bin/album", arguments: [Array("--library=~/%h".utf8), []],
        directory: "/home/ada", systemctl: "/usr/bin/systemctl", grep: "/usr/bin/grep",
        manager: "--user")

    private func words(
        _ request: BGTaskRequest, at seconds: TimeInterval? = nil, now: Int64 = 1000
    ) throws -> [String] {
        if let seconds { request.earliestBeginDate = Date(timeIntervalSince1970: seconds) }
        let unit = try #require(
            TaskUnit(program: Array("al-bum".utf8), identifier: request.identifier, number: 7))
        return start.arguments(for: TaskRecord(request), as: unit, now: now).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("a request without conditions is a timer that elapses once")
    func refresh() throws {
        #expect(
            try words(BGAppRefreshTaskRequest(identifier: "refresh")) == [
                "--user", "--quiet", "--collect", "--no-ask-password",
                #"--unit=bgtask-al\x2dbum-refresh-0000000000000007.service"#,
                "--description=Background task refresh", "--timer-property=AccuracySec=1s",
                "--property=RuntimeMaxSec=40",
                "--setenv=RESVAL_BACKGROUND_TASK=refresh,30,,,,cmVmcmVzaA==", "--on-active=0",
                "--working-directory=/home/ada", "--", "/opt/album/bin/album",
                "--library=~/%h", "",
            ])
    }

    @Test(
        "a date is a calendar time, never an earlier one; one that has passed is no date",
        arguments: [
            (1500.0, "--on-calendar=@1500"), (1500.2, "--on-calendar=@1501"),
            (1001.0, "--on-active=1"), (1000.5, "--on-active=1"), (1000.0, "--on-active=0"),
            (64_092_211_200, "--on-calendar=@7258118399"), (3.0, "--on-active=0"),
            (-5.0, "--on-active=0"),
        ])
    func dates(_ seconds: TimeInterval, _ expected: String) throws {
        let words = try words(BGProcessingTaskRequest(identifier: "a"), at: seconds)
        #expect(words.filter { $0.hasPrefix("--on-") } == [expected])
    }

    @Test("dates out of all range do not end the program")
    func extremes() throws {
        for date in [Date.distantFuture, .distantPast] {
            _ = try words(BGAppRefreshTaskRequest(identifier: "a"), at: date.timeIntervalSince1970)
        }
        for seconds in [TimeInterval.infinity, -.infinity, .nan] {
            let request = BGAppRefreshTaskRequest(identifier: "a")
            request.runLimit = seconds
            _ = try words(request, at: seconds)
        }
    }

    @Test("conditions are examined again until a run begins, which ends the timer")
    func conditions() throws {
        let request = BGProcessingTaskRequest(identifier: "clean-up")
        request.requiresExternalPower = true
        request.requiresNetworkConnectivity = true
        let words = try words(request)
        #expect(words.contains("--timer-property=OnUnitInactiveSec=5min"))
        #expect(words.contains("--property=ConditionACPower=true"))
        #expect(
            words.contains(
                #"--property=ExecStartPre="/usr/bin/systemctl" --user stop "#
                    + #""bgtask-al\\x2dbum-clean\\x2dup-0000000000000007.timer""#))
        let condition = try #require(words.first { $0.hasPrefix("--property=ExecCondition=") })
        #expect(condition.hasPrefix(#"--property=ExecCondition="/usr/bin/grep" -E -s -q "^("#))
    }

    @Test("an identifier adds no line, and no word, to a unit")
    func hostileIdentifier() throws {
        let hostile = "a\n[Service]\nExecStartPre=/bin/false\0 \"b\" %h $HOME"
        let request = BGProcessingTaskRequest(identifier: hostile)
        request.requiresExternalPower = true
        let safe = try words(request).filter { $0 != "--library=~/%h" }
        #expect(safe.contains { $0.hasPrefix("--description=Background task a") })
        for word in safe {
            #expect(!word.contains { "\n\0%$".contains($0) })
            #expect(!word.contains("ExecStartPre=/bin/false"))
        }
    }

    @Test(
        "a directory that systemd would not keep is refused",
        arguments: (1..<0x20).map { [0x61, $0, 0x62] } + [
            Array("x\nExecStartPre=/bin/false".utf8), [0x7F], Array("end ".utf8),
            Array(#"end\"#.utf8), [0x61, 0xFF],
        ])
    func hostileDirectory(_ name: [UInt8]) {
        var other = start
        other.directory = FilePath(bytes: Array("/tmp/".utf8) + name)
        #expect(other.obstacle != nil)
    }

    @Test(
        "a program whose path systemd would not keep is refused, as are such tools",
        arguments: (1..<0x20).map { [$0] } + [
            [0x7F], [0xFF], Array("'".utf8), Array(#"""#.utf8), Array(#"\"#.utf8),
            Array("$HOME".utf8), Array(";".utf8), Array("\nExecStartPre=/bin/false".utf8),
        ])
    func hostileProgram(_ name: [UInt8]) {
        for path in [\TaskStart.program, \.systemctl, \.grep] {
            for text in [
                Array("/opt/a".utf8) + name + Array("b/album".utf8), Array("/a".utf8) + name,
            ] {
                var other = start
                other[keyPath: path] = FilePath(bytes: text)
                #expect(other.obstacle != nil)
            }
        }
    }

    @Test(
        "an argument that systemd would change is refused", arguments: ["a$HOME", "$", "a;b", ";"])
    func changedArgument(_ text: String) {
        var other = start
        other.arguments.append(Array(text.utf8))
        #expect(other.obstacle?.contains("systemd would change") == true)
        other.arguments = [[0x61, 0xFF]]
        #expect(other.obstacle?.contains("UTF-8") == true)
    }

    @Test(
        "what systemd keeps is passed on",
        arguments: ["two  words", "%h%%", "{a}*?[b]~!", "ü", "#a=@b:-c+d|e&f<g>,^`"])
    func kept(_ text: String) {
        #expect(start.obstacle == nil)
        var other = start
        other.directory = FilePath("/tmp/\(text)/a$b;'c\"\\d")
        other.program = FilePath("/opt/\(text)")
        other.arguments = [Array("\(text)\n\t'\"\\\u{7F}\u{1}".utf8), Array(" ".utf8)]
        #expect(other.obstacle == nil)
        other.directory = "/"
        #expect(other.obstacle == nil)
    }

    @Test(
        "a default route that is up is a network",
        arguments: [
            ("eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0", true),
            // Another destination; the mask of half the world; down; refused.
            ("eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0", false),
            ("tun0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000080\t0\t0\t0", false),
            ("eth0\t00000000\t0102A8C0\t0002\t0\t0\t100\t00000000\t0\t0\t0", false),
            ("*\t00000000\t00000000\t0201\t0\t0\t100\t00000000\t0\t0\t0", false),
            ("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU", false),
            (route("00", flags: "00000003", "eth0"), true),
            (route("40", flags: "00000003", "eth0"), false),
            (route("00", flags: "00200200", "  lo"), false),
            (route("00", flags: "00000201", "eth0"), false),
        ])
    func network(_ line: String, _ isNetwork: Bool) throws {
        let root = try temporaryDirectory { File("route", line + "\n") }
        let grep = try #require(FilePath.tool("grep"))
        let result = try Command(
            grep, "-E", "-s", "-q", TaskStart.defaultRoute, root.appending("route"),
            root.appending("missing")
        ).run()
        #expect((result.exitCode == 0) == isNetwork, "\(result)")
    }

    private static func route(_ length: String, flags: String, _ device: String) -> String {
        let none = String(repeating: "0", count: 32)
        let numbers = "00000400 00000001 00000000 \(flags)"
        return "\(none) \(length) \(none) 00 \(none) \(numbers) \(device)"
    }

    @Test("a record is read as it was written")
    func records() throws {
        let request = BGProcessingTaskRequest(identifier: "a, b\n\"ü\" % $ \\")
        request.requiresNetworkConnectivity = true
        request.earliestBeginDate = Date(timeIntervalSince1970: 12.5)
        request.runLimit = 1.5
        let text = TaskRecord(request).text
        #expect(text.allSatisfy { $0.isLetter || $0.isNumber || ",+/=".contains($0) })
        let record = try #require(TaskRecord(text: text))
        #expect(record == TaskRecord(request))
        let read = try #require(record.request as? BGProcessingTaskRequest)
        #expect(read.identifier == request.identifier)
        #expect(read.earliestBeginDate == Date(timeIntervalSince1970: 13))
        #expect(read.requiresNetworkConnectivity && !read.requiresExternalPower)
        #expect(read.runLimit == 2)
    }

    @Test(
        "what is not a record is none",
        arguments: [
            "", "refresh", "other,30,,,,YQ==", "refresh,0,,,,YQ==", "refresh,x,,,,YQ==",
            "refresh,30,x,,,YQ==", "refresh,30,,power,,YQ==", "refresh,30,,,,YQ",
            "refresh,30,,,,/w==", "refresh,+30,,,,YQ==", "refresh,30,,,,YQ==,",
        ])
    func noRecord(_ text: String) { #expect(TaskRecord(text: text) == nil) }

    @Test("pending are the requests of this program whose timers wait")
    func pending() throws {
        let program = Array("album".utf8)
        func unit(_ identifier: String, _ number: UInt64, _ program: String = "album") -> String {
            TaskUnit(program: Array(program.utf8), identifier: identifier, number: number)?.name
                ?? ""
        }
        func environment(_ identifier: String) -> String {
            let record = TaskRecord(BGAppRefreshTaskRequest(identifier: identifier))
            return "Environment=A=b\r RESVAL_BACKGROUND_TASK=\(record.text) C=d\r"
        }
        let output = """
            Id=\(unit("waits", 1)).timer
            SubState=waiting

            Id=\(unit("runs", 2)).timer
            SubState=running

            Id=\(unit("waits", 3, "other")).timer
            SubState=waiting

            Id=\(unit("liar", 4)).timer
            SubState=waiting

            \(environment("waits"))
            Id=\(unit("waits", 1)).service
            SubState=dead

            Id=\(unit("runs", 2)).service
            SubState=running
            \(environment("runs"))

            Id=\(unit("waits", 3, "other")).service
            \(environment("waits"))

            Id=\(unit("liar", 4)).service
            \(environment("waits"))
            """
        let pending = ServiceManager.pending(in: Array(output.utf8), of: program)
        #expect(pending.map(\.record.identifier) == ["waits"])
        #expect(pending.map(\.unit.name) == [unit("waits", 1)])
        #expect(ServiceManager.pending(in: [], of: program).isEmpty)
    }
}
