import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Programs and servers that are silent", .cleansUp)
struct SilenceTests {
    private static let tree = Tree { File("file", "text") }

    /// A server that accepts connections and never answers.
    private final class SilentServer {
        let port: UInt16
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let server = descriptor
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(server, address, size) | listen(server, 50)
                        | getsockname(server, address, &size)
                }
            }
            try #require(result == 0)
            port = UInt16(bigEndian: address.sin_port)
        }

        deinit { close(descriptor) }
    }

    private func engine(
        _ location: String, _ limits: ResticLimits,
        password: String = "echo word"
    ) throws -> Restic {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return try Restic(
            searchPath: Array(path.utf8),
            repository: RepositoryLocation(bytes: Array(location.utf8)),
            passwordFile: nil,
            environment: [
                "PATH=\(path)", "HOME=/proc/no-home", "RESTIC_PASSWORD_COMMAND=\(password)",
            ].map { Array($0.utf8) }, stateDirectory: nil, limits: limits)
    }

    /// Returns the error of a call. That it came in time, its words tell: other tests keep the threads of
    /// this process for longer than the limits.
    private func failure(_ body: () async throws -> Void) async throws -> BackupError {
        try #require(await #expect(throws: BackupError.self) { try await body() })
    }

    @Test("a server that does not give the config in time is out of reach, for each command")
    func answer() async throws {
        try require(.tool("restic"))
        let server = try SilentServer()
        let engine = try engine(
            "rest:http://ada:secret@127.0.0.1:\(server.port)/",
            ResticLimits(answer: .seconds(2)))
        for call in [
            { try await engine.requireKnown() }, { _ = try await engine.list() },
            { _ = try await engine.prune() },
            { _ = try await engine.verify(nil, readsData: false) },
        ] {
            let error = try await failure(call)
            #expect(error.code == .unreachable && error.code.exitCode == 1)
            #expect(error.message.contains("out of reach: restic got no answer in 2 seconds"))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test(
        "a restic that moves nothing for long is stopped, and one that works is not",
        arguments: ["rest:http", "sftp"])
    func stall(scheme: String) async throws {
        try require(.tool("restic"), .tool("ssh"))
        let server = try SilentServer()
        let engine = try engine(
            "\(scheme)://127.0.0.1:\(server.port)/",
            ResticLimits(stall: .seconds(3), interval: .milliseconds(500)))
        let error = try await failure {
            _ = try await engine.run(ResticCommand("snapshots"), reading: NoOutput())
        }
        #expect(error.code == .unreachable, "\(error)")
        #expect(error.message.contains("moved nothing"), "\(error)")
    }

    @Test("a backup into a directory that moves nothing waits for its SOURCEs, and no network")
    func source() async throws {
        let backup = try backup(of: Self.tree)
        let engine = try engine(
            "\(backup.repository)", ResticLimits(stall: .seconds(3), interval: .milliseconds(500)),
            password: "cat \(backup.base)/password")
        let command = ResticCommand(
            "backup", [Array("--stdin-from-command".utf8)],
            on: ["sleep", "20"].map { Array($0.utf8) })
        let error = try await failure { _ = try await engine.run(command, reading: NoOutput()) }
        #expect(error.code == .other, "\(error)")
        #expect(error.message.contains("moved nothing"), "\(error)")
        #expect(error.message.contains("below the SOURCEs (a FIFO"), "\(error)")
    }

    @Test("a command that prints no password in time is named")
    func passwordCommand() async throws {
        try require(.tool("restic"))
        let engine = try engine(
            "rest:http://127.0.0.1:1/", ResticLimits(answer: .seconds(2)),
            password: "sleep 100")
        let error = try await failure { _ = try await engine.list() }
        #expect(error.code == .noPassword, "\(error)")
        #expect(error.message.contains("did not end in 2 seconds"), "\(error)")
    }

    @Test("the words of a command are restic's")
    func words() {
        func words(_ text: String) -> [String] {
            wordsOfPasswordCommand(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(words("pass  show\tbackup") == ["pass", "show", "backup"])
        #expect(words(#"sh -c "echo 'a b'""#) == ["sh", "-c", "echo 'a b'"])
        #expect(words(#"a"b c"d"#) == ["a", "b c", "d"])
        #expect(words(#"a\"b \ c"#) == ["a", "\"b", "c"])
        #expect(words("") == [])
    }

    @Test("a command that leaves a process behind, and one that is asked for once, hold nothing up")
    func leftBehind() throws {
        let backup = try backup(of: Self.tree)
        let create = backup.command(["create", backup.source]).setting([
            "RESTIC_PASSWORD_FILE": nil,
            "RESTIC_PASSWORD_COMMAND":
                "sh -c 'sleep 25 & echo x >> \(backup.base)/asked; cat \(backup.base)/password'",
        ])
        let start = ContinuousClock.now
        try create.run(exits: 0)
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try tool("cat", backup.base.appending("asked")) == "x")
        try create.setting(["RESTIC_PASSWORD_COMMAND": "sh -c 'echo no key >&2; exit 3'"])
            .run(exits: 1, says: "cannot be read: its command failed: no key")
    }

    @Test("what gives the password and ssh ask on the terminal, and get the answer")
    func terminal() throws {
        try require(.tool("script"), .tool("bash"))
        let backup = try configuredBackup { Self.tree }
        let ask = #"sh -c "read -r word < /dev/tty; echo $word""#
        let script = """
            cd "$2"
            printf '%s\\n' '#!/bin/sh' 'touch "$0.asks"' 'read -r word < /dev/tty' 'echo "got $word" > "$0.got"' > ssh
            chmod +x ssh; PATH=$PWD:$PATH
            (sleep 2; echo "$1"
                for _ in $(seq 150); do [ -e ssh.asks ] && break; sleep 0.1; done
                sleep 1; echo answer; sleep 5) |
                timeout 60 script -qec "bash -c 'set -m; \\"$RESVAL\\" run; echo code \\$?'" /dev/null
            cat ssh.got 2>/dev/null
            """
        for (location, outcome) in [
            ("\(backup.repository)", "code 0"), ("sftp:h:/x", "got answer"),
        ] {
            let settings = backup.withoutPassword.replacing("\(backup.repository)", with: location)
            try backup.configure(settings + "verify = \"never\"\npassword-command = '\(ask)'\n")
            let result = try backup.script(script, repositoryPassword, backup.base)
            #expect(result.text.contains(outcome), "\(result)")
        }
    }
}
