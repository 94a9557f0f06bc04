import BackupPlanning
import EffectiveValues
import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("What happens to bytes", .cleansUp)
struct ClassTests {
    private static let home = Tree {
        File(".cache/program/image", content(20_000))
        File(".cache/pinned", content(7_000)).purgeable(false)
        Directory("Documents") { File("thesis", content(30_000)).purgeable() }
        File("project/source", content(1_000))
        Directory("project/build") {
            File("object", content(40_000))
            File("kept?", content(2_000)).excluded(false)
        }.excluded()
        Directory("project/dist") { File("package", content(9_000)) }
            .attribute("user.xdg.robots.backup", "false")
        File("project/download", content(15_000)).purgeable()
        Directory("letters") {
            File("to bob", content(3_000))
            File("to all", content(4_000)).protection(.none)
        }.protection(.complete)
        File("tagged/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
        File("tagged/data", content(50_000))
        Socket("socket")
    }

    @Test("each byte has one row of each property")
    func rows() throws {
        let home = try temporaryDirectory(containing: Self.home)
        let report = try measure(home, home: home, markers: [.native, .xdg, .cachedir])
        func sizes<Key: Hashable>(_ key: (UsageClass) -> Key) -> [Key: Int64] {
            report.amounts(by: key).mapValues(\.apparent).filter { $0.value > 0 }
        }
        let total = report.total.apparent
        let exclusions: [String?: Int64] = [
            nil: 53_044, "marked native": 42_000, "marker xdg": 9_000,
            "marker cachedir": 50_000, "location caches": 27_000,
        ]
        #expect(sizes { $0.exclusion.map { "\($0.name) \($0.detail ?? "-")" } } == exclusions)
        // In a directory for documents nothing is ever purged.
        let purging: [UsagePurging: Int64] = [
            .pinned: 7_000, .purgeable(.caches): 20_000, .purgeable(.marked): 15_000,
            .kept: total - 42_000,
        ]
        #expect(sizes(\.purging) == purging)
        let protection: [FileProtection?: Int64] = [
            .complete: 3_000, FileProtection.none: 4_000, nil: total - 7_000,
        ]
        #expect(sizes(\.protection) == protection)
        let locations: [StorageLocation.Kind?: Int64] = [
            .caches: 27_000, .documents: 30_000, nil: total - 57_000,
        ]
        #expect(sizes(\.location) == locations)
        for sum in [
            report.amounts(by: \.exclusion).values.reduce(0) { $0 + $1.allocated },
            report.amounts(by: \.self).values.reduce(0) { $0 + $1.allocated },
            UsageFate.allCases.reduce(0) { $0 + report.total.allocated($1) },
        ] {
            #expect(sum == report.total.allocated)
        }
    }

    @Test("a protection class stands with the verdict on its volume, and none with none")
    func verdicts() throws {
        let tree = Tree {
            Directory("letters") {
                File("to bob", content(3_000))
                File("to all", content(4_000)).protection(.none)
                Directory("deep") { File("to eve", content(5_000)).protection(.completeUnlessOpen) }
            }.protection(.complete)
            File("open", content(6_000))
        }
        let disk = try filesystem(.ext4)
        let memory = try filesystem(.tmpfs)
        for root in [disk.root, memory.root] { try tree.create(in: root) }
        let report = try measure(disk.root, memory.root)
        let rows = report.amounts(by: {
            "\($0.protection?.rawValue ?? "-") \($0.verdict?.rawValue ?? "-")"
        }).mapValues(\.apparent)
        #expect(
            rows == [
                "complete advisory": 3_000, "complete unknown": 3_000,
                "completeUnlessOpen advisory": 5_000, "completeUnlessOpen unknown": 5_000,
                "none -": 8_000, "- -": 12_000,
            ])
        let sum = report.amounts(by: \.verdict).values.reduce(0) { $0 + $1.allocated }
        #expect(sum == report.total.allocated)
    }

    @Test("what is backed up is what a plan stores")
    func sameAsPlan() throws {
        let home = try temporaryDirectory(containing: Self.home)
        for markers in [Marker.defaultSet, Set(Marker.allCases), [.xdg]] {
            let environment = PolicyEnvironment(
                environment: ["HOME": home], passwordDatabase: "/dev/null", user: 0)
            let planner = BackupPlanner(
                policy: StoragePolicy(markers: markers, locations: environment.locations),
                mounts: environment.mounts)
            let plan = try planner.makePlan(for: [home])
            let report = try measure(home, home: home, markers: markers)
            let stored = report.amounts(by: \.exclusion)[nil]?.apparent
            #expect(stored == plan.totals.storedBytes)
            #expect(plan.totals.excludedItems > 1)
        }
    }

    @Test("a directory's own entry is backed up where its contents are excluded")
    func ownEntry() throws {
        let root = try temporaryDirectory { Directory("out") { Directory("in") {} }.excluded() }
        let report = try measure(root)
        let outer = try #require(report.directory(at: root.appending("out")))
        let inner = try root.appending("out/in").fileStatus().allocatedSize
        #expect(outer.excluded == inner)
    }

    @Test("a file with several names has what keeps it longest")
    func merging() throws {
        let root = try temporaryDirectory {
            Directory("kept") { File("a", content(10_000)) }
            Directory("out") {
                HardLink("b", to: "kept/a")
                File("c", content(20_000))
                HardLink("d", to: "out/c")
            }.excluded().purgeable()
            Directory("out too") { HardLink("e", to: "out/c") }
                .attribute("user.xdg.robots.backup", "false").purgeable()
        }
        let report = try measure(root)
        let exclusions = report.amounts(by: { $0.exclusion?.name })
        #expect(exclusions[nil]?.apparent == 10_000)
        #expect(exclusions["marked"]?.apparent == 20_000)
        #expect(exclusions["marker"]?.apparent == nil)
        #expect(report.amounts(by: \.purging)[.purgeable(.marked)]?.apparent == 20_000)
    }

    @Test("a metric of a program counts its installation apart from its data")
    func metric() throws {
        let root = try temporaryDirectory {
            Directory("bin") { File("program", content(100_000)) }
            File("home/.cache/image", content(20_000))
            File("home/data", content(3_000))
        }
        let (installation, home) = (root.appending("bin"), root.appending("home"))
        let report = try measure(root, home: home)
        let metric = DiskSpaceMetric(report, installation: [installation], capacity: 1 << 40)
        #expect(metric.totalBinaryFileSize == 100_000)
        #expect(metric.totalBinaryFileCount == 1)
        #expect(metric.totalDataFileSize == 23_000)
        #expect(metric.totalDataFileCount == 2)
        try #expect(metric.totalCacheFolderSize == diskUsage(home.appending(".cache")))
        try #expect(metric.totalDiskSpaceUsedSize == diskUsage(root))
        #expect(metric.totalDiskSpaceCapacity == 1 << 40)
    }
}
