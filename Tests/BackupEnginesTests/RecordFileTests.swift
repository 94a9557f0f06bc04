import CLinux
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Where a snapshot's record lies while restic stores it")
struct RecordFileTests {
    private let usual = FilePath("resval-\(effectiveUser())")

    /// The paths of a record, relative to the base, as `find` shows them.
    private func names(_ base: FilePath) throws -> String {
        try tool("sh", "-c", "cd \"$1\" && find . -mindepth 1 | sort", "sh", base)
    }

    private func record(_ base: FilePath, _ text: String = "text") throws -> RecordFile {
        try RecordFile(
            Array(text.utf8), name: "resval-record-0", outside: [], below: [base])
    }

    @Test(
        "it has the same path in every run, in a directory of the user's own, and goes in the end")
    func path() throws {
        try withTemporaryDirectory { base in
            for _ in 0..<2 {
                let file = try record(base)
                #expect(file.path == base.pushing(usual).appending("resval-record-0"))
                let directory = file.path.removingLastComponent()
                #expect(try directory.status().permissions == 0o700)
                #expect(try file.path.status().permissions == 0o600)
                let other = try record(base, "other")
                #expect(other.path != file.path)
                #expect(try contentsOfFile(file.path) == Array("text".utf8))
                withExtendedLifetime((file, other)) {}
            }
            #expect(try names(base) == "")
        }
    }

    @Test(
        "whatever others put under its name keeps no backup from being made",
        arguments: [
            "mkdir $1 && chown 54321 $1", "mkdir -m 1777 $1", "ln -s /etc $1", "mkfifo $1",
            "touch $1", "mkdir -m 755 $1", "mkdir $2 && ln -s $2 $1",
        ])
    func taken(script: String) throws {
        try require(.root)
        try withTemporaryDirectory { base in
            let name = base.pushing(usual)
            try tool("sh", "-c", script, "sh", name, base.appending("elsewhere"))
            let before = try names(base)
            let file = try record(base)
            let directory = file.path.removingLastComponent()
            #expect(directory != name)
            #expect(directory.lastComponent?.string.count == "\(usual)".count + 17)
            let status = try directory.withoutFollowing.status()
            #expect(status.kind == .directory && status.permissions == 0o700)
            withExtendedLifetime(file) {}
            _ = consume file
            #expect(try names(base) == before)
        }
    }

    @Test("what killed runs left is taken over or removed, and what is in use stays")
    func leftovers() throws {
        try require(.root)
        try withTemporaryDirectory { base in
            let left = base.pushing(usual).appending("resval-record-0")
            try tool("mkdir", "-m", "700", left.removingLastComponent())
            try tool("sh", "-c", "umask 077; echo a longer text > \"$1\"", "sh", left)
            do {
                let file = try record(base)
                #expect(file.path == left)
                #expect(try contentsOfFile(left) == Array("text".utf8))
                withExtendedLifetime(file) {}
            }
            // The name is taken: directories with random names, one of a run that goes on.
            try tool("mkdir", "-m", "755", base.pushing(usual))
            let running = try record(base)
            let random = "\(base.pushing(usual))-0123456789abcdef"
            try tool("mkdir", "-m", "700", random)
            try tool("sh", "-c", "umask 077; echo text > \"$1/resval-record-0\"", "sh", random)
            let foreign = "\(base.pushing(usual))-fedcba9876543210"
            try tool("mkdir", "-m", "700", foreign)
            try tool("chown", "54321", foreign)
            let next = try record(base)
            #expect(throws: Errno.noSuchFileOrDirectory) { try FilePath(random).status() }
            #expect(try FilePath(foreign).status().kind == .directory)
            #expect(try contentsOfFile(running.path) == Array("text".utf8))
            withExtendedLifetime((running, next)) {}
        }
    }
}
