import EffectiveValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Evictions and downloads that are killed", .cleansUp)
struct CrashTests {
    @Test("before any of its system calls: the file is whole, or can be brought back")
    func everyCall() throws {
        let fixture = try heldFixture()
        for work in ["evict", "download"] {
            var call = 1
            while true {
                if work == "download" { try fixture.evict() }
                let result = try command(work, fixture, dyingAt: call).run()
                if result.end == .exit(0) { break }
                #expect(result.end == .signal(9), "\(result)")
                try checkAndRepair(fixture, "\(work), call \(call)")
                call += 1
            }
            // It has many, or the test looks at nothing.
            #expect(call > 40)
            if work == "evict" { try fixture.expectPlaceholder() }
            try checkAndRepair(fixture, "\(work), whole")
        }
    }

    @Test("two at once: one of them does it, and the other changes nothing")
    func twoAtOnce() throws {
        let fixture = try heldFixture()
        for work in ["evict", "download", "evict", "download"] {
            let script = """
                "$@" & first=$!
                "$@" & second=$!
                wait $first; wait $second
                """
            let tool = FilePath.built("test-tool")
            let result = try Command(
                "/bin/sh", "-c", script, "sh", tool, "evict", fixture.state.path, work,
                fixture.file, fixture.root.appending("held")
            ).run()
            let lines = result.text.split(separator: "\n")
            #expect(lines.count { $0.hasPrefix(work == "evict" ? "evicted" : "down") } == 1)
            if work == "evict" {
                try fixture.expectPlaceholder()
            } else {
                try fixture.expectWhole()
            }
        }
    }

    @Test("an ordinary user evicts own files, read-only ones too, and brings them back")
    func ordinaryUser() throws {
        try require(.root, .tool("setpriv"))
        for permissions: UInt16 in [0o600, 0o444] {
            let fixture = try heldFixture(permissions: permissions)
            let base = fixture.root.removingLastComponent()
            try tool("chmod", "755", base)
            try tool("chmod", "644", fixture.root.appending("held"))
            try tool("chown", "-R", "1234:1234", fixture.root)
            try tool("mkdir", "-p", fixture.state.path)
            try tool("chown", "-R", "1234:1234", base.appending("state"))
            var call = 1
            // Killed before each call, also between those that lend the right to write.
            while true {
                let result = try command("evict", fixture, dyingAt: call, by: 1234).run()
                if result.end == .exit(0) { break }
                #expect(result.end == .signal(9), "\(result)")
                #expect(try command("recover", fixture, by: 1234).run().exitCode == 0)
                _ = try command("download", fixture, by: 1234).run()
                try fixture.expectWhole(permissions: permissions)
                call += 3
            }
            try fixture.expectPlaceholder()
            #expect(try command("download", fixture, by: 1234).run().text == "downloaded\n")
            try fixture.expectWhole(permissions: permissions)
        }
    }
}

@Suite("Evictions and downloads that are killed from outside", .cleansUp)
struct EvictionKillTests {
    @Test("at any moment from outside: the file is whole, or can be brought back")
    func anyMoment() throws {
        let fixture = try heldFixture()
        for work in ["evict", "download"] {
            if work == "download" { try fixture.evict() }
            let clock = ContinuousClock()
            var result: CommandResult?
            let longest = try clock.measure { result = try command(work, fixture).run() }
            #expect(result?.exitCode == 0)
            try checkAndRepair(fixture, "\(work), whole")
            for moment in killMoments(upTo: longest) {
                if work == "download" { try fixture.evict() }
                _ = try command(work, fixture).killed(after: moment).run()
                try checkAndRepair(fixture, "\(work) after \(moment)")
            }
        }
    }
}

/// The command `test-tool evict`, with a copy of the content in the place of the repository.
func command(
    _ work: String, _ fixture: EvictionFixture, dyingAt call: Int? = nil, by user: UInt32? = nil
) -> Command {
    Command(
        .built("test-tool"), "evict", fixture.state.path, work, fixture.file,
        fixture.root.appending("held"), call.map(String.init) ?? "0", String(fixture.permissions),
        user: user)
}

/// Makes a file to evict, and a copy of its content.
func heldFixture(
    in directory: FilePath? = nil, permissions: UInt16 = 0o640
) throws -> EvictionFixture {
    let fixture = try evictionFixture(in: directory, permissions: permissions)
    try tool("cp", "-p", fixture.file, fixture.root.appending("held"))
    return fixture
}

/// Whether the file is whole, or a backup leaves it out and a download brings it back.
func checkAndRepair(_ fixture: EvictionFixture, _ moment: Comment) throws {
    let status = try fixture.file.status()
    let isWhole = try contentsOfFile(fixture.file) == fixture.content
    if !isWhole {
        let sign = try EvictionSign(of: fixture.file.withoutFollowing, status)
        #expect(sign?.isEvicted == true, moment)
        #expect(sign?.record == fixture.record, moment)
    }
    #expect(status.size == fixture.content.count, moment)
    let recovery = try fixture.state.recover(at: fixture.file)
    #expect([.settled, .whole, .placeholder, .partial].contains(recovery), moment)
    try fixture.download()
    try fixture.expectWhole()
}
