import SystemCalls
import SystemPackage
import Testing

@testable import Backups

@Suite("What restic says of failures and of progress")
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

    @Test("exit codes and words tell the cause")
    func causes() throws {
        let opening = "Fatal: unable to open config file: "
        for (code, line, cause) in [
            (10, "Fatal: repository does not exist", .noRepository),
            (12, "Fatal: whatever", .wrongPassword), (11, "whatever", .locked),
            (130, "", .interrupted), (-2, "", .interrupted),
            (
                1, "Fatal: create repository at R failed: config file already exists",
                .repositoryExists
            ),
            (
                1,
                "Fatal: create key in repository at s3:R failed: repository master key and config "
                    + "already initialized", .repositoryExists
            ),
            (1, "Fatal: unable to save snapshot: write R/x: no space left on device", .noSpace),
            (
                1, "Fatal: unable to open repository at R: open R/keys: permission denied",
                .notWritable
            ),
            (1, "Fatal: cannot dump file: id 70c136cd not found in repository", .damaged),
            (2, "panic: runtime error: slice bounds", .damaged),
            (1, "Fatal: an empty password is not allowed by default", .noPassword),
            (1, "Resolving password failed: Fatal: F does not exist", .noPassword),
            // The head of an absent repository's message is not enough.
            (
                1, opening + "client.Head: Head \"http://x\": connect: connection refused",
                .unreachable
            ),
            (1, opening + "Stat: The AWS Access Key Id you provided does not exist.", .unreachable),
            (1, opening + "unexpected HTTP response (401): 401 Unauthorized", .unreachable),
        ] as [(Int32, String, BackupError.Code)] {
            let error = try failure(code, line, "Is there a repository…", "R")
            #expect(error.code == cause, "\(line)")
            if cause == .noSpace { #expect(!error.message.contains("R/x"), "\(error)") }
            if cause == .unreachable {
                #expect(error.message.hasSuffix(line.dropFirst(opening.count)), "\(error)")
            }
        }
        #expect(try failure(1, "Fatal: something new").message == "restic: something new")
        #expect(try failure(5).message == "restic: exit code 5")
        #expect(try failure(-9).message.contains("signal 9"))
    }

    @Test("a lock names its holder, and what restic advises about locks is not passed on")
    func locks() throws {
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
            ])
        #expect(errors.lines.map { $0.count } == [14, 51, 9])
    }

    @Test("names are no messages, and a full cache is no news to a restic without one")
    func names() throws {
        let full = "Load(<index/1>) returned error, retrying after 1s: no space left on device"
        var command = ResticCommand("backup")
        command.absentTarget = Array("/absent".utf8)
        var errors = ErrorOutput(of: command)
        let item = #"{"message_type":"error","error":{},"item":"/w"}"#
        let end = #"{"message_type":"exit_error","message":"Fatal: a\n\#(full)"}"#
        for line in ["/a", full, item, "b does not exist, skipping"] {
            try errors.receive(line: Array(line.utf8)[...])
        }
        try errors.receive(line: Array("/absent does not exist, skipping".utf8)[...])
        #expect(errors.lines.isEmpty && errors.items.isEmpty && !errors.isSilent)
        try errors.receive(line: Array(end.utf8)[...])
        #expect(errors.lines == ["Fatal: a", full])
        #expect(throws: BackupError.cacheIsFull) {
            try errors.receive(line: Array(full.utf8)[...])
        }
        command = ResticCommand("snapshots", words("--no-cache"))
        errors = ErrorOutput(of: command)
        try errors.receive(line: Array(full.utf8)[...])
        #expect(!errors.isCacheFull)
    }

    @Test("endless complaints take bounded memory, and the first and last lines stay")
    func bounds() throws {
        var errors = ErrorOutput()
        for number in 0..<5000 { try errors.receive(line: Array("line \(number)".utf8)[...]) }
        #expect(errors.lines.count == 400)
        #expect(errors.lines.first == "line 0")
        #expect(errors.lines.last == "line 4999")
    }

    @Test("counts of progress are read")
    func counts() {
        let packs = BackupProgress(line: "[0:05] 15.00%  3 / 20 packs")
        #expect(packs?.noun.description == "packs")
        #expect(packs?.filesDone == 3)
        #expect(packs?.filesTotal == 20)
        let snapshots = BackupProgress(line: "[1:02:05] 100.00%  1 / 1 snapshots")
        #expect(snapshots?.noun.description == "snapshots checked")
        let files = BackupProgress(line: "[0:00] 100.00%  2 / 2 index files")
        #expect(files?.noun.description == "steps")
    }

    @Test(
        "what is no progress is passed on",
        arguments: [
            "", "[", "done", "no errors were found", "[0:05] 15.00%  3 / 20", "[0:05] 3 20 packs",
            "[0:05] 15.00%  30 / 20 packs", "[0:05] 15.00%  -3 / 20 packs",
            "[0:05] 15.00%  99999999999999999999 / 20 packs", "pack 3 / 20 15.00% [0:05] packs",
        ])
    func others(line: String) throws {
        #expect(BackupProgress(line: line) == nil)
        var lines = TextLines { _ in Issue.record("reported") }
        try lines.receive(line: Array(line.utf8)[...])
        #expect(lines.lines == (line.isEmpty ? [] : [line]))
    }

    @Test("a status that is not as expected tells nothing, and the end is known nevertheless")
    func status() {
        let seen = Monitor<[Int64]>([])
        var messages = StatusMessages { progress in
            seen.withLock { $0.append(progress.bytesDone) }
        }
        for line in [
            "text", #"{"message_type":"status","bytes_done":"#,
            #"{"message_type":"status","bytes_done":-1}"#,
            #"{"message_type":"status","bytes_done":18446744073709551615}"#,
            #"{"message_type":"status","bytes_done":5}"#,
            #"{"message_type":"status","bytes_restored":7}"#,
        ] {
            messages.receive(line: Array(line.utf8)[...])
        }
        #expect(seen.withLock { $0 } == [5, 7])
        #expect(messages.summary == nil)
        let end = #"{"message_type":"summary","total_bytes":18446744073709551615}"#
        messages.receive(line: Array(end.utf8)[...])
        #expect(messages.summary != nil)
        #expect(throws: BackupError.self) { try messages.newSnapshot }
    }
}
