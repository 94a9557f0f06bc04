import EffectiveValues
import ResourceValues
import StorageManagement
import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Capacity by use", .cleansUp)
struct CapacityTests {
    private func status(_ blocks: UInt64, _ available: UInt64, _ size: UInt64) -> FilesystemStatus {
        FilesystemStatus(
            type: 0, fragmentSize: size, blocks: blocks, freeBlocks: available,
            availableBlocks: available, files: 0, freeFiles: 0, availableFiles: 0,
            isReadOnly: false)
    }

    @Test("opportunistic ≤ available ≤ important ≤ total, whatever the numbers are")
    func order() throws {
        var numbers = SeededNumbers(seed: 5)
        let interesting: [UInt64] = [0, 1, 511, 1 << 20, 1 << 33, 1 << 52, .max / 2, .max]
        for _ in 0..<20_000 {
            func any() -> UInt64 {
                Bool.random(using: &numbers)
                    ? interesting.randomElement(using: &numbers) ?? 0
                    : UInt64.random(in: 0...(.max), using: &numbers)
            }
            let status = status(
                max(1, any()), any(), [1, 512, 4096, 1 << 20].randomElement(using: &numbers) ?? 1)
            let capacity = try #require(VolumeCapacity(status))
            let purgeable = Int64(bitPattern: any())
            let reserve: Int64? = Bool.random(using: &numbers) ? Int64(bitPattern: any()) : nil
            let usage = UsageCapacity(capacity, purgeable: purgeable, reserve: reserve)
            #expect(usage.opportunistic >= 0)
            #expect(usage.opportunistic <= usage.available)
            #expect(usage.available <= usage.important)
            #expect(usage.important <= usage.total)
            if purgeable <= 0 { #expect(usage.important == usage.available) }
            if reserve == 0 { #expect(usage.opportunistic == usage.available) }
        }
    }

    @Test("the reserve is a tenth, at most 5 GiB, or what is asked for")
    func reserve() throws {
        func usage(_ total: UInt64, _ available: UInt64, _ reserve: Int64? = nil) throws -> Int64 {
            let capacity = try #require(VolumeCapacity(status(total, available, 1 << 20)))
            return UsageCapacity(capacity, purgeable: 0, reserve: reserve).opportunistic >> 20
        }
        try #expect(usage(1000, 500) == 400)
        try #expect(usage(1000, 50) == 0)
        try #expect(usage(1 << 20, 1 << 19) == (1 << 19) - 5120)
        try #expect(usage(1000, 500, 200 << 20) == 300)
        try #expect(usage(1000, 500, 0) == 500)
    }

    @Test("something fits within the capacity for its use, every quota, and the inodes")
    func fitting() throws {
        let capacity = UsageCapacity(
            try #require(VolumeCapacity(status(1000, 500, 1))), purgeable: 100)
        func fits(_ bytes: Int64, _ use: StorageUse, _ space: StorageSpace) -> Bool {
            capacity.fits(bytes, for: use, in: space)
        }
        let plain = StorageSpace(bytes: StorageAmount(total: 1000, available: 500))
        #expect(fits(600, .important, plain))
        #expect(!fits(601, .important, plain))
        #expect(fits(400, .opportunistic, plain))
        #expect(!fits(401, .opportunistic, plain))
        var limited = plain
        limited.quotas = [.init(bytes: StorageAmount(total: 400, available: 200))]
        #expect(fits(300, .important, limited))
        #expect(!fits(301, .important, limited))
        #expect(fits(200, .opportunistic, limited))
        #expect(!fits(201, .opportunistic, limited))
        limited = plain
        limited.inodes = StorageAmount(total: 10, available: 0)
        #expect(!fits(1, .important, limited))
        limited = plain
        limited.quotas = [.init(inodes: StorageAmount(total: 10, available: 0))]
        #expect(!fits(1, .important, limited))
    }

    @Test("the command, the library and the URL API count on the same record")
    func oneAnswer() throws {
        let filesystem = try filesystem(.ext4)
        let state = try temporaryDirectory()
        let capacity = try #require(try filesystem.root.volumeCapacity())
        let device = try filesystem.root.status().identity.device
        let boot = try bootIdentifier()
        let environment: [String: String?] = ["XDG_STATE_HOME": state.string, "HOME": state.string]
        func answers() throws -> [[Int64]] {
            var command = Command(
                .built("resval"), "get",
                "volumeTotalCapacity,volumeAvailableCapacity,"
                    + "volumeAvailableCapacityForImportantUsage,"
                    + "volumeAvailableCapacityForOpportunisticUsage", filesystem.root)
            command.environment = environment
            let told = try command.runSuccessfully().split(separator: "\n")
                .compactMap { $0.split(separator: "=").last.flatMap { Int64($0) } }
            command = Command(.built("foundation-tool"), "capacity", filesystem.root)
            command.environment = environment
            let values = try command.runSuccessfully().split(separator: "\n")
                .compactMap { Int64($0) }
            return [told, values]
        }
        let (total, available) = (capacity.total, capacity.available)
        let opportunistic = available - total / 10
        let without = [total, available, available, opportunistic]
        try #expect(answers() == [without, without])

        let records = PurgeRecords(stateHome: state)
        func write(_ bytes: Int64, age: Int64 = 0, boot: String) throws {
            var created = FileTime.now
            created.seconds -= age
            try records.write(
                PurgeRecord(
                    created: created, device: device, bootID: boot, bytes: bytes))
        }
        try write(4096, boot: boot)
        let with = [total, available, available + 4096, opportunistic]
        try #expect(answers() == [with, with])
        try write(1 << 60, boot: boot)
        let all = [total, available, total, opportunistic]
        try #expect(answers() == [all, all])
        try write(4096, age: 3700, boot: boot)
        try #expect(answers() == [without, without])
        try write(4096, boot: "another")
        try #expect(answers() == [without, without])
        try Tree { File("bad", "{}") }.create(in: state)
        try tool("cp", state.appending("bad"), records.path(forDevice: device))
        try #expect(answers() == [without, without])
    }

    @Test("a volume is asked for space as statvfs tells it, inodes and pressure included")
    func realSpace() throws {
        let filesystem = try filesystem(.ext4)
        let space = try StorageVolume(holding: filesystem.root).space()
        let told = try tool("stat", "-f", "-c", "%b %a %S %c %d", filesystem.root)
            .split(separator: " ").compactMap { Int64($0) }
        #expect(space.bytes?.total == told[0] * told[2])
        #expect(space.bytes?.available == told[1] * told[2])
        #expect(space.inodes == StorageAmount(total: told[3], available: told[4]))
        #expect(StorageThresholds().pressure(of: space) == .normal)
        // Inodes run out long before the bytes do.
        let script =
            "cd '\(filesystem.root)' && for n in $(seq \(told[4] - 60)); do echo n$n; done | xargs touch"
        try tool("bash", "-c", script)
        let full = try StorageVolume(holding: filesystem.root).space()
        #expect(StorageThresholds().pressure(of: full) == .critical)
        #expect(full.bytes.map { $0.available > $0.total / 2 } == true)
        try #expect(StorageVolume(holding: "/proc").space() == StorageSpace())
        try #expect(StorageVolume(holding: "/proc").fits(0, for: .important) == false)
    }

    /// Whether so many bytes fit below a path, for important use.
    private func fits(_ size: String, _ path: FilePath, _ home: FilePath) throws -> Bool {
        let command = Command(
            .built("resval"), "get", "volumeAvailableCapacityForImportantUsage", "--fits", size,
            path,
            environment: ["HOME": home.string, "XDG_STATE_HOME": home.appending("state").string])
        return try command.run().exitCode == 0
    }

    @Test("what a purge may free counts only as far as it is certain: not compressed files")
    func compressed() throws {
        let home = try filesystem(.btrfs, options: ["compress-force=zstd"]) {
            File(".cache/app/large", content(16 << 20))
        }.root
        try tool("sync")
        let command = Command(
            .built("resval-purge"), "plan", "--free", "1M", "--min-age", "0", home,
            environment: ["HOME": home.string, "XDG_STATE_HOME": home.appending("state").string])
        try #expect(command.runSuccessfully().contains("16.0 MiB"))
        let available = try #require(StorageVolume(holding: home).space().bytes?.available)
        try #expect(fits("\(available - (2 << 20))B", home, home))
        try #expect(!fits("\(available + (8 << 20))B", home, home))
    }

    @Test("the limit of a btrfs subvolume counts, for every user")
    func subvolume() throws {
        try require(.tool("btrfs"))
        let filesystem = try filesystem(.btrfs)
        let volume = filesystem.root.appending("volume")
        try tool("btrfs", "quota", "enable", filesystem.root)
        try tool("btrfs", "subvolume", "create", volume)
        try tool("btrfs", "qgroup", "limit", "8M", volume)
        try #expect(fits("20M", filesystem.root, filesystem.root))
        try #expect(!fits("20M", volume, filesystem.root))
        try #expect(fits("4M", volume, filesystem.root))
        try tool("dd", "if=/dev/urandom", "of=\(volume)/file", "bs=1M", "count=6", "status=none")
        try tool("sync")
        try #expect(!fits("4M", volume, filesystem.root))
        let space = try StorageVolume(holding: volume).space()
        #expect(space.quotas.first?.bytes?.total == 8 << 20)
        #expect(StorageThresholds().pressure(of: space) == .normal)
    }

    @Test("an ordinary user where no quota is in force is told of none")
    func noQuota() throws {
        try require(.root)
        let filesystem = try filesystem(.ext4)
        let command = Command(
            .built("resval"), "get", "volumeAvailableCapacityForImportantUsage", "--fits", "1K",
            filesystem.root, environment: ["HOME": "/nonexistent"], user: 65534)
        try #expect(command.run().exitCode == 0)
    }
}
