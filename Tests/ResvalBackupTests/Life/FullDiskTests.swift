import SystemPackage
import TestSupport
import Testing

@Suite("Disks that are full")
struct FullDiskTests {
    private func withLargeBackup(_ body: (BackupFixture) throws -> Void) throws {
        try require(.root)
        try withBackup(of: Tree { File("small", "text") }) { backup in
            let large = backup.source.appending("large")
            try tool("dd", "if=/dev/urandom", "of=\(large)", "bs=1M", "count=80", "status=none")
            try body(backup)
        }
    }

    @Test("a restore names what has no room, and goes on elsewhere")
    func target() throws {
        try withFilesystem(.tmpfs) { volume in
            try withLargeBackup { backup in
                try backup.runSuccessfully("create", backup.source)
                try tool("mount", "-o", "remount,size=16m", volume.root)
                let full = try backup.run(
                    "restore", "--snapshot", "latest", "--target", volume.root.appending("target"))
                #expect(full.exitCode == 1 || full.exitCode == 3, "\(full)")
                #expect(full.errorText.contains("large"), "\(full)")
                #expect(full.errorText.contains("no space left"), "\(full)")
                try backup.runSuccessfully(
                    "restore", "--snapshot", "latest", "--target", backup.target)
            }
        }
    }

    @Test("a full cache keeps nothing from being backed up")
    func cache() throws {
        try withFilesystem(.tmpfs) { volume in
            try withLargeBackup { backup in
                try tool("mount", "-o", "remount,size=16k", volume.root)
                var command = backup.command(["create", backup.source])
                command.environment["RESTIC_CACHE_DIR"] = "\(volume.root)/cache"
                let result = try command.run()
                #expect(result.exitCode == 0, "\(result)")
                try backup.runSuccessfully("verify", "latest")
            }
        }
    }
}
