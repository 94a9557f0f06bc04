import ResourceValues
import SystemPackage
import TestSupport
import Testing

/// Files whose sizes and times are as far off as a filesystem allows.
@Suite("Files with extreme sizes and times")
struct ExtremeFileTests {
    private let largest = ["9223372036854775807", "9223372036854775806"]
    private let times = [
        "@253402300800", "@9223372036854775807", "@-62167219201", "@-9223372036854775807",
    ]

    /// Makes two sparse files of nearly 2^63 bytes each, and a small one.
    private func makeLargeFiles(in directory: FilePath) throws {
        try Tree { File("small", "text") }.create(in: directory)
        for size in largest {
            try tool("truncate", "--size", size, directory.appending("large-\(size)"))
        }
    }

    private func expectNamed(_ result: CommandResult) {
        #expect(result.exitCode == 3, "\(result)")
        for size in largest {
            #expect(
                result.errorText.contains(
                    "/large-\(size): is not in the snapshot: its holes are larger than 16 TiB"),
                "\(result)")
        }
    }

    @Test("two files of nearly 2^63 bytes are named, and keep nothing else from any backup")
    func sizes() throws {
        try withFilesystem(.tmpfs) { volume in
            try makeLargeFiles(in: volume.root)
            try withBackup(of: Tree {}) { backup in
                try backup.run("plan", volume.root, exits: 3)
                expectNamed(try backup.run("create", volume.root))
                try #expect(backup.restic("ls", "latest").contains("/small"))
            }
        }
    }

    @Test("restic's snapshots name a file whose year they cannot hold, as long as it has it")
    func resticTimes() throws {
        try withFilesystem(.tmpfs) { volume in
            try withBackup(of: Tree {}) { backup in
                for time in times {
                    try tool("touch", "--date", time, volume.root.appending("far"))
                    let far = try backup.run("create", volume.root, exits: 3)
                    #expect(
                        far.errorText.contains("/far: is in the snapshot with another time"),
                        "\(far)")
                    #expect(far.errorText.split(separator: "\n").count == 1, "\(far)")
                }
                try tool("touch", volume.root.appending("far"))
                try backup.runSuccessfully("create", volume.root)
            }
        }
    }
}
