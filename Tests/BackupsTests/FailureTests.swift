import SystemPackage
import Testing

@testable import Backups

@Suite("Telling restic's failures apart")
struct FailureTests {
    private func failure(_ code: Int32, _ lines: String...) throws -> BackupError {
        let restic = try Restic(
            searchPath: Array("/usr/local/bin:/usr/bin:/bin".utf8),
            repository: RepositoryLocation(bytes: Array("/repository".utf8)),
            passwordFile: Array("/password".utf8), environment: [])
        var errors = ErrorOutput()
        for line in lines { try errors.receive(line: Array(line.utf8)[...]) }
        return restic.failure(ResticEnd(code: code, errors: errors))
    }

    @Test("exit codes tell the causes that have one")
    func codes() throws {
        #expect(try failure(10, "Fatal: repository does not exist").code == .noRepository)
        #expect(try failure(12, "Fatal: whatever").code == .wrongPassword)
        #expect(try failure(11, "whatever").code == .locked)
        #expect(try failure(130).code == .interrupted)
        #expect(try failure(-2).code == .interrupted)
    }

    @Test("a lock names its holder")
    func locked() throws {
        let error = try failure(
            11,
            "unable to create lock in backend: repository is already locked exclusively by "
                + "PID 5466 on vm by root (UID 0, GID 0)",
            "lock was created at 2026-11-21 01:08:28 (1.67s ago)", "storage ID 97a7fd6f")
        #expect(error.code == .locked)
        #expect(error.message.contains("by PID 5466 on vm by root"))
        #expect(error.message.contains("(1.67s ago)"))
    }

    @Test("a lock that cannot be read is one, and what restic advises about locks is not passed on")
    func adviceAboutLocks() throws {
        let json =
            #"{"message_type":"exit_error","code":11,"message":"unable to create lock in backend: "#
            + #"repository is already locked by PID 5 on vm by root\nlock was created at 2026-11-26 "#
            + #"(1s ago)\nstorage ID 97a7fd6f\nthe `unlock` command can be used to remove stale locks"}"#
        let readable = try failure(11, json)
        #expect(
            readable.message == "the repository is locked by PID 5 on vm by root: "
                + "lock was created at 2026-11-26 (1s ago)")
        let unreadable = try failure(
            1, "Fatal: invalid lock file: LoadRaw(<lock/2d711642b7>): invalid data returned",
            "the `unlock --remove-all` command can be used to remove invalid locks.")
        for error in [readable, unreadable] {
            #expect(error.code == .locked)
            #expect(!error.description.contains("unlock"), "\(error)")
        }
    }

    @Test("the head of an absent repository's message is not enough: a network error has it too")
    func unreachable() throws {
        let refused =
            "Fatal: unable to open config file: client.Head: Head \"http://x/config\": "
            + "connect: connection refused"
        #expect(try failure(1, refused, "Is there a repository…").code == .unreachable)
    }

    @Test("credentials that a server refuses are no absent repository, and its words are passed on")
    func refused() throws {
        let opening = "Fatal: unable to open config file: "
        for cause in [
            "Stat: The AWS Access Key Id you provided does not exist in our records.",
            "Stat: The request signature we calculated does not match the signature you provided.",
            "unexpected HTTP response (401): 401 Unauthorized",
        ] {
            let error = try failure(1, opening + cause, "Is there a repository…", "R")
            #expect(error.code == .unreachable)
            #expect(error.message.hasSuffix(cause), "\(error)")
        }
    }

    @Test("the other causes are told by their words")
    func others() throws {
        #expect(
            try failure(1, "Fatal: create repository at R failed: config file already exists").code
                == .repositoryExists)
        #expect(
            try failure(1, "Fatal: unable to save snapshot: write R/x: no space left on device")
                .code
                == .noSpace)
        #expect(
            try failure(1, "Fatal: unable to open repository at R: open R/keys: permission denied")
                .code == .notWritable)
        #expect(
            try failure(1, "Fatal: cannot dump file: id 70c136cd not found in repository").code
                == .damaged)
        #expect(try failure(2, "panic: runtime error: slice bounds").code == .damaged)
        #expect(
            try failure(1, "Fatal: an empty password is not allowed by default").code == .noPassword
        )
        #expect(
            try failure(1, "Resolving password failed: Fatal: F does not exist").code == .noPassword
        )
        #expect(try failure(1, "Fatal: something new").message == "restic: something new")
        #expect(try failure(5).message == "restic: exit code 5")
        #expect(try failure(-9).message.contains("signal 9"))
    }

    @Test("items that restic complains of are told from other words, each once")
    func items() throws {
        var errors = ErrorOutput()
        let unreadable = { (action: String) in
            #"{"message_type":"error","error":{"message":"open /u/s: permission denied"},"#
                + #""during":"\#(action)","item":"/u/s"}"#
        }
        let lines = [
            unreadable("scan"), unreadable("archival"),
            #"{"message_type":"error","error":{},"during":"archival","item":"/u/d\ufffd"}"#,
            #"{"message_type":"error","error":{"message":"open l: input/output error"},"item":"/l"}"#,
            #"{"message_type":"error","error":{"message":"whatever"},"item":"/w"}"#,
            #"{"message_type":"exit_error","code":1,"message":"Fatal: the end"}"#,
            "/gone does not exist, skipping", "Warning: at least one source file could not be read",
            "{not JSON",
        ]
        for line in lines { try errors.receive(line: Array(line.utf8)[...]) }
        #expect(
            errors.items == [
                ErrorOutput.Item(
                    name: Array("/u/s".utf8), errno: .permissionDenied,
                    message: "open /u/s: permission denied"),
                ErrorOutput.Item(name: Array("/u/d".utf8) + [JSONScanner.lostByte], errno: nil),
                ErrorOutput.Item(
                    name: Array("/l".utf8), errno: .ioError, message: "open l: input/output error"),
                ErrorOutput.Item(name: Array("/w".utf8), errno: nil, message: "whatever"),
                ErrorOutput.Item(name: Array("/gone".utf8), errno: .noSuchFileOrDirectory),
            ])
        #expect(errors.lines.map { $0.count } == [14, 51, 9])
    }

    @Test("endless complaints take bounded memory, and the first and last lines stay")
    func bounds() throws {
        var errors = ErrorOutput()
        for number in 0..<5000 { try errors.receive(line: Array("line \(number)".utf8)[...]) }
        #expect(errors.lines.count == 400)
        #expect(errors.lines.first == "line 0")
        #expect(errors.lines.last == "line 4999")
    }
}
