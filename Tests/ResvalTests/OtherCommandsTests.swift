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
        let root = try temporaryDirectory {
            File("marked").excluded().purgeable(false).protection(.none)
            File("plain")
        }
        try expectTranscript(
            """
            $ resval test excluded marked
            $ resval test excluded=false marked
            [1]
            $ resval test purgeable marked
            [1]
            $ resval test purgeable=false marked
            $ resval test protection=none marked
            $ resval test excluded=false plain
            [1]
            $ resval test isDirectory .
            $ resval test excluded nope
            ! resval: nope: no such file or directory
            [2]
            """, in: root)
    }

    @Test("list prints every stored value, and names broken marks")
    func listCommand() throws {
        let root = try temporaryDirectory {
            File("marked").excluded().protection(.complete)
            File("plain")
            File("broken").purgeable().attribute(StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        let complaint = """
            resval: broken: user.resval.isExcludedFromBackup has the value "yes", which is not one \
            of: true, false (store a valid value with set, or remove this one with unset)
            """
        try expectTranscript(
            #"""
            $ resval list marked
            isExcludedFromBackup=true
            fileProtection=complete
            $ resval list plain
            $ resval list marked plain broken
            marked:
            isExcludedFromBackup=true
            fileProtection=complete
            plain:
            broken:
            isPurgeable=true
            ! \#(complaint)
            [2]
            $ resval list --json broken
            {"version":1,"path":"broken","isExcludedFromBackup":null,"isPurgeable":true,\#
            "fileProtection":null,"broken":["isExcludedFromBackup"],"error":null}
            ! \#(complaint)
            [2]
            """#, in: root)
    }

    @Test("copy takes the marks, leaves what is unset, and never takes a malformed one")
    func copyCommand() throws {
        let root = try temporaryDirectory {
            File("source").excluded().protection(.complete).attribute("user.other", "x")
            File("target").purgeable()
            File("broken").purgeable(false).attribute(
                StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        let target = root.appending("target")
        let expected = Marks(
            isExcludedFromBackup: true, isPurgeable: true, fileProtection: .complete)
        expect(try resval("copy", "source", "target", in: root), exits: 0)
        try #expect(target.marks() == expected)
        try #expect(target.extendedAttribute(named: "user.other") == nil)
        let broken = try resval("copy", "broken", "target", in: root)
        #expect(broken.exitCode == 2)
        #expect(broken.errorText.hasPrefix("resval: broken: user.resval.isExcluded"))
        try #expect(target.marks() == expected)
        try expectTranscript(
            """
            $ resval copy --all-attributes source target
            $ resval copy source nope
            ! resval: nope: no such file or directory
            [2]
            """, in: root)
        try #expect(target.extendedAttribute(named: "user.other") == Array("x".utf8))
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

    @Test(
        "get --fits answers by its exit code, silently, and asks inodes, too",
        arguments: ["Important", "Opportunistic"])
    func fits(use: String) throws {
        let get = "resval get volumeAvailableCapacityFor\(use)Usage"
        try expectTranscript(
            """
            $ \(get) --fits 1K .
            $ \(get) --fits 9000T .
            [1]
            $ \(get) --fits 1K /proc
            [1]
            $ \(get) --fits 1K nope
            ! resval: nope: no such file or directory
            [2]
            """, in: temporaryDirectory())
        let small = try filesystem(.tmpfs, options: ["nr_inodes=3"]).root
        try expectTranscript(
            """
            $ \(get) --fits 1K .
            $ touch a b
            $ \(get) --fits 1K .
            [1]
            """, in: small)
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
