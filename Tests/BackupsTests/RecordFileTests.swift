import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Where a snapshot's record lies while restic stores it")
struct RecordFileTests {
    private func record(
        _ base: FilePath, _ text: String = "text", in directory: String = "resval"
    ) throws -> RecordFile {
        try RecordFile(
            Array(text.utf8), name: "resval-record-0", in: [base.appending(directory)],
            below: [base.appending("missing"), base])
    }

    @Test("it has the same path in every run, private to the user, and goes in the end")
    func path() throws {
        try withTemporaryDirectory { base in
            for _ in 0..<2 {
                let file = try record(base)
                #expect(file.path == base.appending("resval/resval-record-0"))
                #expect(try file.path.status().permissions == 0o600)
                let other = try record(base, "other")
                #expect(other.path == base.appending("resval/resval-record-0-1"))
                #expect(try contentsOfFile(file.path) == Array("text".utf8))
                withExtendedLifetime((file, other)) {}
            }
            #expect(try tool("ls", base.appending("resval")) == "")
        }
    }

    @Test("what a killed run left is taken over, and what is in use stays")
    func leftovers() throws {
        try withTemporaryDirectory { base in
            let left = base.appending("resval/resval-record-0")
            try tool("mkdir", "-m", "700", left.removingLastComponent())
            try shell(#"umask 077; echo a longer text > "$1""#, left)
            let file = try record(base)
            #expect(file.path == left)
            #expect(try contentsOfFile(left) == Array("text".utf8))
            withExtendedLifetime(file) {}
        }
    }

    @Test(
        "where the state cannot be trusted or written, it is in a new directory",
        arguments: [
            "chown 54321 $1", "chmod 777 $1", "rmdir $1; ln -s /etc $1", "rmdir $1; touch $1",
            "mount -t tmpfs -o ro none $1", "mkfifo $1/resval-record-0; chown 54321 $1/*",
            "mount -t tmpfs -o size=4k none $1; cat /dev/zero > $1/filler 2>/dev/null; true",
        ])
    func taken(script: String) throws {
        try require(.root)
        try withTemporaryDirectory { base in
            let state = base.appending("resval")
            try tool("mkdir", "-m", "700", state)
            try shell(script, state)
            defer { _ = try? shell(#"umount "$1" 2>/dev/null; true"#, state) }
            let file = try record(base)
            let directory = file.path.removingLastComponent()
            #expect(directory.removingLastComponent() == base, "\(file.path)")
            #expect(try directory.withoutFollowing.status().permissions == 0o700)
            #expect(try contentsOfFile(file.path) == Array("text".utf8))
            withExtendedLifetime(file) {}
            _ = consume file
            #expect(throws: Errno.noSuchFileOrDirectory) { try directory.status() }
        }
    }
}
