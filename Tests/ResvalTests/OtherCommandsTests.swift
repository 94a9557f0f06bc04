import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval test, list, copy, capacity and keys")
struct OtherCommandsTests {
    @Test("test answers by its exit code, and silently")
    func testCommand() throws {
        let tree = Tree {
            File("marked").excluded().purgeable(false).protection(.none)
            File("plain")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("list prints every stored value, and names broken marks")
    func listCommand() throws {
        let tree = Tree {
            File("marked").excluded().protection(.complete)
            File("plain")
            File("broken").purgeable().attribute(
                StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("copy takes the marks, leaves what is unset, and never takes a malformed one")
    func copyCommand() throws {
        let tree = Tree {
            File("source").excluded().protection(.complete).attribute("user.other", "x")
            File("target").purgeable()
            File("broken").purgeable(false).attribute(
                StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("capacity tells what statvfs tells, and nothing where nothing is known")
    func capacity() throws {
        try withTemporaryDirectory { root in
            let result = try resval("capacity", in: root)
            #expect(result.exitCode == 0)
            let stat = try #require(FilePath.tool("stat"))
            let shown = try Command(stat, "-f", "-c", "%b %S", root).runSuccessfully()
            let numbers = shown.split(separator: " ").compactMap { Int($0) }
            #expect(
                result.text.hasPrefix("volumeTotalCapacity=\(numbers[0] * numbers[1])\n"))
            expect(try resval("capacity", "/proc", in: root), exits: 1)
            expect(
                try resval("capacity", "--json", "/proc", in: root), exits: 1,
                prints: #"""
                    {"version":1,"path":"/proc","volumeTotalCapacity":null,"volumeAvailableCapacity":null,\#
                    "volumeAvailableCapacityForImportantUsage":null,\#
                    "volumeAvailableCapacityForOpportunisticUsage":null,"pressure":null}

                    """#)
        }
    }

    @Test("get answers each key that capacity prints, what a purge would free included")
    func capacityKeys() throws {
        // Nobody else stores anything here.
        try withFilesystem(.ext4) { filesystem in
            let root = filesystem.root
            try PurgeRecords(stateHome: root).write(
                PurgeRecord(
                    created: FileTime.now, device: try root.status().identity.device,
                    bootID: try bootIdentifier(), bytes: 12_345))
            let environment = ["XDG_STATE_HOME": root.string]
            let lines = try resval("capacity", in: root, environment: environment).text
                .split(separator: "\n").filter { !$0.hasPrefix("pressure=") }
            #expect(lines.count == 4)
            var values: [Substring: Int] = [:]
            for line in lines {
                let parts = line.split(separator: "=")
                values[parts[0]] = Int(parts[1])
                expect(
                    try resval("get", String(parts[0]), ".", in: root, environment: environment),
                    exits: 0, prints: "\(parts[1])\n")
            }
            let available = try #require(values["volumeAvailableCapacity"])
            #expect(values["volumeAvailableCapacityForImportantUsage"] == available + 12_345)
        }
    }

    @Test("capacity --fits answers by its exit code, and silently")
    func fits() throws {
        try withTemporaryDirectory { root in
            expect(try resval("capacity", "--fits", "1K", in: root), exits: 0)
            expect(try resval("capacity", "--fits", "1K", "--opportunistic", in: root), exits: 0)
            expect(
                try resval(
                    "capacity", "--fits", "1K", "--opportunistic", "--reserve", "1000T", in: root),
                exits: 1)
            expect(try resval("capacity", "--fits", "9000T", "--important", in: root), exits: 1)
            expect(try resval("capacity", "--fits", "1K", "/proc", in: root), exits: 1)
            expect(
                try resval("capacity", "--fits", "1K", "nope", in: root), exits: 2,
                complains: "resval: nope: no such file or directory\n")
            #expect(try resval("capacity", "--fits", "lots", in: root).exitCode == 64)
            #expect(try resval("capacity", "--fits", "1K", "--json", in: root).exitCode == 64)
        }
    }

    @Test("keys lists every key once")
    func keys() throws {
        try withTemporaryDirectory { root in
            let result = try resval("keys", in: root)
            #expect(result.exitCode == 0)
            let names = result.text.split(separator: "\n").compactMap {
                $0.split(separator: " ").first.map(String.init)
            }
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
}
