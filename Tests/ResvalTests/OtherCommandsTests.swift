import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval test, list, copy, keys and capacities", .cleansUp)
struct OtherCommandsTests {
    @Test("test answers by its exit code, and silently")
    func testCommand() throws {
        let tree = Tree {
            File("marked").excluded().purgeable(false).protection(.none)
            File("plain")
        }
        let root = try temporaryDirectory(containing: tree)
        expect(try resval("test", "excluded", "marked", in: root), exits: 0)
        expect(try resval("test", "excluded=false", "marked", in: root), exits: 1)
        expect(try resval("test", "purgeable", "marked", in: root), exits: 1)
        expect(try resval("test", "purgeable=false", "marked", in: root), exits: 0)
        expect(try resval("test", "protection=none", "marked", in: root), exits: 0)
        expect(try resval("test", "excluded=false", "plain", in: root), exits: 1)
        expect(try resval("test", "isDirectory", ".", in: root), exits: 0)
        expect(
            try resval("test", "excluded", "nope", in: root), exits: 2,
            complains: "resval: nope: no such file or directory\n")
    }

    @Test("list prints every stored value, and names broken marks")
    func listCommand() throws {
        let tree = Tree {
            File("marked").excluded().protection(.complete)
            File("plain")
            File("broken").purgeable().attribute(StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        let root = try temporaryDirectory(containing: tree)
        expect(
            try resval("list", "marked", in: root), exits: 0,
            prints: "isExcludedFromBackup=true\nfileProtection=complete\n")
        expect(try resval("list", "plain", in: root), exits: 0)
        let result = try resval("list", "marked", "plain", "broken", in: root)
        #expect(result.exitCode == 2)
        #expect(
            result.text == """
                marked:
                isExcludedFromBackup=true
                fileProtection=complete
                plain:
                broken:
                isPurgeable=true

                """)
        #expect(result.errorText.hasPrefix("resval: broken: user.resval.isExcludedFromBackup"))
        let json = try resval("list", "--json", "broken", in: root)
        #expect(
            json.text == #"""
                {"version":1,"path":"broken","isExcludedFromBackup":null,"isPurgeable":true,\#
                "fileProtection":null,"broken":["isExcludedFromBackup"],"error":null}

                """#)
    }

    @Test("copy takes the marks, leaves what is unset, and never takes a malformed one")
    func copyCommand() throws {
        let tree = Tree {
            File("source").excluded().protection(.complete).attribute("user.other", "x")
            File("target").purgeable()
            File("broken").purgeable(false).attribute(
                StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        let root = try temporaryDirectory(containing: tree)
        let target = root.appending("target")
        expect(try resval("copy", "source", "target", in: root), exits: 0)
        let expected = Marks(
            isExcludedFromBackup: true, isPurgeable: true,
            fileProtection: .complete)
        try #expect(target.marks() == expected)
        try #expect(target.extendedAttribute(named: "user.other") == nil)
        let broken = try resval("copy", "broken", "target", in: root)
        #expect(broken.exitCode == 2)
        #expect(broken.errorText.hasPrefix("resval: broken: user.resval.isExcluded"))
        try #expect(target.marks() == expected)
        expect(try resval("copy", "--all-attributes", "source", "target", in: root), exits: 0)
        try #expect(target.extendedAttribute(named: "user.other") == Array("x".utf8))
        expect(
            try resval("copy", "source", "nope", in: root), exits: 2,
            complains: "resval: nope: no such file or directory\n")
    }

    @Test("capacities are those of statvfs and what a purge would free, and unknown in /proc")
    func capacities() throws {
        // Nobody else stores anything here.
        let filesystem = try filesystem(.ext4)
        let root = filesystem.root
        try PurgeRecords(stateHome: root).write(
            PurgeRecord(
                created: FileTime.now, device: try root.status().identity.device,
                bootID: try bootIdentifier(), bytes: 12_345))
        func get(_ key: String, _ path: String = ".") throws -> CommandResult {
            try resval("get", key, path, in: root, environment: ["XDG_STATE_HOME": root.string])
        }
        let stat = try #require(FilePath.tool("stat"))
        let shown = try Command(stat, "-f", "-c", "%b %S", root).runSuccessfully()
        let numbers = shown.split(separator: " ").compactMap { Int($0) }
        expect(try get("volumeTotalCapacity"), exits: 0, prints: "\(numbers[0] * numbers[1])\n")
        let available = try #require(Int(get("volumeAvailableCapacity").text.dropLast()))
        expect(
            try get("volumeAvailableCapacityForImportantUsage"), exits: 0,
            prints: "\(available + 12_345)\n")
        try #expect(get("volumeAvailableCapacityForOpportunisticUsage").exitCode == 0)
        for key in ["volumeTotalCapacity", "volumeAvailableCapacityForImportantUsage"] {
            expect(try get(key, "/proc"), exits: 1)
        }
    }

    @Test("get --fits answers by its exit code, silently, and asks inodes, too")
    func fits() throws {
        let important = "volumeAvailableCapacityForImportantUsage"
        let opportunistic = "volumeAvailableCapacityForOpportunisticUsage"
        let root = try temporaryDirectory()
        func fits(_ size: String, _ key: String, _ more: String...) throws -> CommandResult {
            var command = Command(.built("resval"), arguments: ["get", key, "--fits", size] + more)
            command.workingDirectory = root
            return try command.run()
        }
        for key in [important, opportunistic] {
            expect(try fits("1K", key, "."), exits: 0)
            expect(try fits("9000T", key, "."), exits: 1)
            expect(try fits("1K", key, "/proc"), exits: 1)
            expect(
                try fits("1K", key, "nope"), exits: 2,
                complains: "resval: nope: no such file or directory\n")
        }
        for wrong in [
            ["lots", important, "."], ["1K", important, "--json", "."],
            ["1K", "volumeAvailableCapacity", "."], ["1K", "excluded,\(important)", "."],
        ] {
            var command = Command(
                .built("resval"), arguments: ["get", "--fits", wrong[0]] + wrong.dropFirst())
            command.workingDirectory = root
            try #expect(command.run().exitCode == 64, "\(wrong)")
        }
        let small = try filesystem(.tmpfs, options: ["nr_inodes=3"]).root
        expect(try resval("get", important, "--fits", "1K", ".", in: small), exits: 0)
        try Tree {
            File("a"); File("b")
        }.create(in: small)
        expect(try resval("get", important, "--fits", "1K", ".", in: small), exits: 1)
    }

    @Test("keys lists every key once")
    func keys() throws {
        let root = try temporaryDirectory()
        let result = try resval("keys", in: root)
        #expect(result.exitCode == 0)
        let lines = result.text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        let names = lines.filter { !$0.hasPrefix(" ") }
            .map { String($0.prefix { $0 != " " && $0 != ":" }) }
        #expect(names == ResourceKey.allCases.map(\.name))
        let json = try resval("keys", "--json", in: root).text.split(separator: "\n")
        #expect(json.count == names.count)
        #expect(
            json[0] == #"""
                {"version":1,"key":"isExcludedFromBackup","foundationKey":"NSURLIsExcludedFromBackupKey",\#
                "shortName":"excluded","type":"boolean","isStored":true,"isSettable":true,\#
                "values":["true","false"],"summary":"whether backups exclude the item"}
                """#)
    }
}
