import EffectiveValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The four locations", .cleansUp)
struct LocationTests {
    private func location(
        _ kind: StorageLocation.Kind, home: FilePath, _ variables: [String: FilePath] = [:]
    ) throws -> FilePath {
        let environment = variables.merging(["HOME": home]) { first, _ in first }
        return try StorageLocation.location(
            kind,
            in: PolicyEnvironment(
                environment: environment, passwordDatabase: "/dev/null", user: effectiveUser())
        ).path
    }

    @Test("without settings they are where the XDG specification puts them")
    func defaults() throws {
        let home = try temporaryDirectory()
        try #expect(location(.caches, home: home) == home.appending(".cache"))
        try #expect(location(.applicationSupport, home: home) == home.appending(".local/share"))
        try #expect(location(.documents, home: home) == home.appending("Documents"))
        try #expect(location(.temporary, home: home) == "/tmp")
    }

    @Test("settings are followed, unless they would make a home disposable")
    func settings() throws {
        let home = try temporaryDirectory {
            File(".config/user-dirs.dirs", "XDG_DOCUMENTS_DIR=\"$HOME/Papiere\"\n")
            Directory("c") {}
        }
        try #expect(location(.documents, home: home) == home.appending("Papiere"))
        let own = home.appending("c")
        try #expect(location(.caches, home: home, ["XDG_CACHE_HOME": own]) == own)
        try #expect(
            location(.caches, home: home, ["XDG_CACHE_HOME": home]) == home.appending(".cache"))
        try #expect(
            location(.caches, home: home, ["XDG_CACHE_HOME": "/srv"])
                == home.appending(".cache"))
        try #expect(location(.applicationSupport, home: home, ["XDG_DATA_HOME": own]) == own)
        try #expect(location(.temporary, home: home, ["TMPDIR": home]) == "/tmp")
        try #expect(location(.temporary, home: home, ["TMPDIR": "/var/tmp"]) == "/var/tmp")
    }

    @Test("without a home there is none of its locations")
    func noHome() throws {
        let environment = PolicyEnvironment(
            environment: [:], passwordDatabase: "/dev/null", user: effectiveUser())
        for kind in [StorageLocation.Kind.caches, .applicationSupport, .documents] {
            #expect(code { try StorageLocation.location(kind, in: environment) } == .other)
        }
        try #expect(StorageLocation.location(.temporary, in: environment).path == "/tmp")
    }

    @Test("they are made for their owner only, and made again is no error")
    func making() throws {
        let home = try temporaryDirectory()
        let caches = StorageLocation(kind: .caches, path: home.appending("a/b"))
        try #expect(caches.make() == home.appending("a/b"))
        try #expect(caches.make() == home.appending("a/b"))
        let app = try caches.makeDirectory(named: "app")
        try #expect(caches.makeDirectory(named: "app") == app)
        for path in [home.appending("a"), home.appending("a/b"), app] {
            try #expect(tool("stat", "-c", "%a", path) == "700")
        }
        for name in ["", "x/y", "..", ".", "/"] {
            #expect(code { try caches.makeDirectory(named: name) } == .other, "\(name)")
        }
    }

    @Test("what others own, may write, or put in the way is refused")
    func strangers() throws {
        let home = try temporaryDirectory()
        let caches = StorageLocation(kind: .caches, path: home.appending("c"))
        try caches.make()
        try tool("chmod", "777", caches.path)
        #expect(code { try caches.make() } == .permissionDenied)
        try tool("chmod", "700", caches.path)
        try tool("touch", caches.path.appending("file"))
        #expect(code { try caches.makeDirectory(named: "file") } == .notADirectory)
        let shared = StorageLocation(kind: .temporary, path: home.appending("t"))
        try tool("mkdir", "-m", "1777", shared.path)
        try shared.make()
        // In a directory that everybody may write, a link could lead anywhere.
        try tool("ln", "-s", caches.path, shared.path.appending("app"))
        #expect(code { try shared.makeDirectory(named: "app") } == .notADirectory)
        try require(.root)
        try tool("mkdir", shared.path.appending("other"))
        try tool("chown", "65534", shared.path.appending("other"))
        #expect(code { try shared.makeDirectory(named: "other") } == .permissionDenied)
    }
}
