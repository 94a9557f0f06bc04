import CommandSupport
import StorageManagement
import StoragePolicy
import SystemPackage
import Testing

@testable import resval_purge

@Suite("The configuration file of watch")
struct WatchSettingsTests {
    private func settings(_ text: String) throws -> WatchSettings {
        try WatchSettings(text, home: "/home/u")
    }

    @Test("an empty file watches the volume of the home, with the usual thresholds")
    func defaults() throws {
        let settings = try settings("")
        #expect(settings == WatchSettings(volumes: ["/home/u"]))
        #expect(settings.thresholds == StorageThresholds())
        #expect(settings.minimumAge == nil)
    }

    @Test("every setting is read")
    func all() throws {
        let settings = try settings(
            """
            volumes = ["~", "/srv"]
            mark-roots = ["~/renders"]
            protected = ["~/Work"]
            caches = ["/srv/cache"]
            temporary = ["/srv/scratch"]
            min-age = "2h"
            alone = true
            [thresholds]
            low-percent = 20
            low = "6G"
            critical-percent = 3
            critical = "1G"
            low-inodes = 1000
            critical-inodes = 10
            """)
        #expect(settings.volumes == ["/home/u", "/srv"])
        #expect(settings.markRoots == ["/home/u/renders"])
        #expect(settings.protected == ["/home/u/Work"])
        #expect(
            settings.locations == [
                StorageLocation(kind: .caches, path: "/srv/cache"),
                StorageLocation(kind: .temporary, path: "/srv/scratch"),
            ])
        #expect(settings.minimumAge == 7200)
        #expect(settings.isAlone)
        #expect(settings.thresholds.lowBytes == .init(percent: 20, amount: 6 << 30))
        #expect(settings.thresholds.criticalBytes == .init(percent: 3, amount: 1 << 30))
        #expect(settings.thresholds.lowInodes == .init(percent: 20, amount: 1000))
        #expect(settings.thresholds.criticalInodes == .init(percent: 3, amount: 10))
    }

    @Test(
        "ages", arguments: [("0", 0), ("90s", 90), ("5m", 300), ("24h", 86_400), ("7d", 604_800)])
    func ages(text: String, seconds: Int64) throws {
        try #expect(settings("min-age = \"\(text)\"").minimumAge == seconds)
    }

    @Test(
        "a mistake names its line, and what is valid",
        arguments: [
            ("volums = []", 1, "volums is not a setting (valid: volumes, "),
            ("\nvolumes = []", 2, "volumes names what to watch"),
            ("volumes = [\"here\"]", 1, "volumes takes paths that begin with / or ~/"),
            ("min-age = \"5 h\"", 1, "min-age takes an age"),
            ("min-age = \"99999999999999999d\"", 1, "min-age takes an age"),
            ("[thresholds]\nlow = \"much\"", 2, "thresholds.low takes a size"),
            ("[thresholds]\nlow-percent = 60", 2, "thresholds.low-percent takes a number from"),
            ("[thresholds]\nlow-inodes = -1", 2, "thresholds.low-inodes takes a number"),
            ("[thresholds]\nhigh = 1", 2, "thresholds.high is not a setting"),
            (
                "[thresholds]\nlow = \"1G\"\ncritical = \"2G\"", 3,
                "thresholds.critical is above low"
            ),
        ])
    func mistakes(text: String, line: Int, beginning: String) throws {
        let error = try #require(throws: SettingsError.self) { try settings(text) }
        #expect(error.line == line)
        #expect(error.description.hasPrefix(beginning), "\(error)")
    }
}
