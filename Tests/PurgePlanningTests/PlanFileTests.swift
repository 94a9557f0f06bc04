import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("A plan in a file")
struct PlanFileTests {
    private func unit(
        _ path: [UInt8], _ purgeClass: PurgeClass = .caches, time: Int64 = 1_700_000_000,
        bytes: Int64 = 4096
    ) -> PurgeUnit {
        let time = FileTime(seconds: time, nanoseconds: 7)
        return PurgeUnit(
            path: path, purgeClass: purgeClass, isDirectory: true,
            identity: FileIdentity(device: 2049, inode: .max), lastUse: time, bytes: bytes,
            itemCount: 3,
            pin: PurgePin(
                size: 4096, contentModificationTime: time, attributeModificationTime: time,
                newestChange: time))
    }

    private func plan(_ units: [PurgeUnit], roots: [FilePath] = ["/home/u"]) -> PurgePlan {
        PurgePlan(
            created: FileTime(seconds: 1_700_000_000, nanoseconds: 1), bootID: "3c19c3c1",
            device: 2049, wantedBytes: 4096, wantedInodes: 7, roots: roots, units: units)
    }

    @Test("is read as it was written, with names of any bytes and times of any year")
    func roundTrip() throws {
        var units = HostileNames.all.enumerated().map { index, name in
            unit(Array("/home/u/\(index)/".utf8) + name.bytes, PurgeClass.allCases[index % 3])
        }
        for (index, time) in [Int64.min, -1, 0, .max].enumerated() {
            units.append(unit(Array("/time/\(index)".utf8), time: time))
        }
        let whole = plan(units, roots: ["/", "/home/u", FilePath(bytes: [0x2F, 0xFF])])
        #expect(try PurgePlan(json: whole.json) == whole)
        #expect(try PurgePlan(json: plan([], roots: []).json) == plan([], roots: []))
        #expect(whole.json.count { $0 == UInt8(ascii: "\n") } == 1)
    }

    @Test("names its version, device, boot and the pins of its units")
    func form() {
        let text = String(decoding: plan([unit(Array("/home/u/x".utf8))]).json, as: UTF8.self)
        let time = "2023-11-14T22:13:20.00000000"
        #expect(
            text == """
                {"type":"purge-plan","version":1,"created":"\(time)1Z","bootID":"3c19c3c1",\
                "device":2049,"wantedBytes":4096,"wantedInodes":7,"roots":[{"path":"/home/u"}],"units":[\
                {"path":"/home/u/x","class":"caches","isDirectory":true,"device":2049,\
                "inode":18446744073709551615,"lastUse":"\(time)7Z","bytes":4096,"itemCount":3,\
                "size":4096,"contentModificationTime":"\(time)7Z",\
                "attributeModificationTime":"\(time)7Z","newestChange":"\(time)7Z"}]}

                """)
    }

    @Test(
        "edited by hand is refused with the reason",
        arguments: [
            ("\"version\":1", "\"version\":2", "has an unknown version"),
            ("purge-plan", "other", "is not a purge plan"),
            ("\"type\":\"purge-plan\",", "", "is not a purge plan"),
            ("\"bootID\"", "\"boot\"", "lacks fields"),
            ("\"bootID\":\"3c19c3c1\"", "\"bootID\":\"\"", "lacks fields"),
            ("7,\"roots\"", "-1,\"roots\"", "lacks fields"),
            ("7,\"roots\"", "7,\"more\":1,\"roots\"", "lacks fields"),
            ("7,\"roots\"", "7,\"wantedBytes\":1,\"roots\"", "is not valid JSON of a plan"),
            ("\"units\":[", "\"units\":null,\"x\":[", "lacks fields"),
            ("\"units\":[", "\"units\":[null,", "is not valid JSON of a plan"),
            ("}]}", "}]} {}", "is not valid JSON of a plan"),
            ("}]}", "}]", "is not valid JSON of a plan"),
            ("\"/home/u\"}", "\"relative\"}", "is not valid JSON of a plan (byte 174)"),
            ("\"/home/u\"}", "\"/home/u\",\"more\":1}", "is not valid JSON of a plan"),
        ])
    func strict(_ text: String, _ replacement: String, _ reason: String) throws {
        let error = try refusal(text, replacement)
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(
        "is refused for a unit edited by hand",
        arguments: [
            ("\"/home/u/x\"", "\"home/u/x\""),
            ("\"/home/u/x\"", "\"/home/u/../x\""),
            ("\"/home/u/x\"", "\"/home/./x\""),
            ("\"/home/u/x\"", "\"/home//x\""),
            ("\"/home/u/x\"", "\"/home/u/x/\""),
            ("\"/home/u/x\"", "\"/\""),
            ("\"/home/u/x\"", "\"/a\\u0000b\""),
            ("\"/home/u/x\"", "null"),
            ("\"/home/u/x\"", "null,\"pathBase64\":\"L2E=\""),
            ("\"/home/u/x\"", "null,\"pathBase64\":\"L2\""),
            ("\"/home/u/x\"", "\"/a\",\"pathBase64\":\"L/8=\""),
            ("\"caches\"", "\"documents\""),
            ("\"isDirectory\":true", "\"isDirectory\":1"),
            ("\"isDirectory\":true", "\"isDirectory\":true,\"isDirectory\":true"),
            ("\"isDirectory\":true", "\"isDirectory\":true,\"more\":[]"),
            ("\"inode\":18446744073709551615", "\"inode\":18446744073709551616"),
            ("\"bytes\":4096", "\"bytes\":-1"),
            ("\"itemCount\":3", "\"itemCount\":0"),
            ("\"itemCount\":3", "\"itemCount\":3.5"),
            ("\"size\":4096", "\"size\":-1"),
            ("7Z\",\"bytes\"", "7X\",\"bytes\""),
        ])
    func strictUnit(_ text: String, _ replacement: String) throws {
        let reason = "is not valid JSON of a plan (byte "
        let error = try refusal(text, replacement)
        #expect(error?.description.hasPrefix(reason) == true, "\(error?.description ?? "")")
    }

    private func refusal(_ text: String, _ replacement: String) throws -> PurgePlanError? {
        let whole = String(decoding: plan([unit(Array("/home/u/x".utf8))]).json, as: UTF8.self)
        let parts = whole.split(separator: text, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        let edited = parts.joined(separator: replacement)
        return #expect(throws: PurgePlanError.self) {
            try PurgePlan(json: Array(edited.utf8))
        }
    }

    @Test("of any sizes frees no more than can be told")
    func sizes() throws {
        let units = [Int64.max, .max, 0, 1].enumerated().map { index, bytes in
            unit(Array("/\(index)".utf8), bytes: bytes)
        }
        let read = try PurgePlan(json: plan(units).json)
        #expect(read.bytes == .max)
        var totals = PurgeTotals()
        let first = FirstUnits(PurgeAmount(bytes: .max))
        for unit in read.units {
            totals.add(unit.amount, of: unit.purgeClass)
            first.add([unit])
        }
        #expect(totals.bytes == .max)
        for unit in read.units { totals.remove(unit.amount, of: unit.purgeClass) }
        #expect(totals.bytes == 0)
        #expect(first.found().units.count == 1)
        var progress = PurgeProgress(PurgeAmount(bytes: .max), futileBytes: .max)
        for _ in 0..<2 { progress.removed(unit([65], bytes: .max)) }
        #expect(progress.predicted.bytes == .max)
        #expect(progress.judge(.max - 1) { true } == .reached)
        var begun = PurgeProgress(PurgeAmount(bytes: .max), futileBytes: .max)
        begun.removed(unit([65], bytes: 1))
        #expect(begun.judge(.min) { true } == .goOn)
        let wanted = String(decoding: plan([]).json, as: UTF8.self)
        for number in ["-1", "-9223372036854775808", "9223372036854775808"] {
            let text = wanted.replacing("\"wantedBytes\":4096", with: "\"wantedBytes\":\(number)")
            #expect(throws: PurgePlanError.self) { try PurgePlan(json: Array(text.utf8)) }
        }
    }

    @Test("names no unit twice, and none inside another")
    func apart() throws {
        for paths in [["/a", "/a"], ["/a", "/a!", "/a/b"], ["/a/b/c", "/a"]] {
            let units = paths.map { unit(Array($0.utf8)) }
            #expect(throws: PurgePlanError.self) { try PurgePlan(json: plan(units).json) }
        }
        let apart = plan(["/a", "/ab", "/a!"].map { unit(Array($0.utf8)) })
        #expect(try PurgePlan(json: apart.json) == apart)
    }
}
