import EffectiveValues
import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport

/// A home with caches and documents, in which units are looked for.
struct HomeFixture {
    let home: FilePath
    var environment: [String: FilePath]

    /// A search with the settings of this home, for items of any age.
    func search(minimumAge: Int64 = 0) -> UnitSearch {
        let settings = PolicyEnvironment(
            environment: environment, passwordDatabase: "/dev/null", user: effectiveUser())
        var search = UnitSearch(settings)
        search.minimumAge = minimumAge
        search.roots = [home]
        return search
    }

    /// What is found in the home for a number of bytes, and what is kept, by paths in the home.
    func found(
        freeing bytes: Int64 = .max, _ change: (inout UnitSearch) -> Void = { _ in }
    ) throws -> (units: [String], kept: [String: KeepReason], FoundUnits) {
        var search = search()
        change(&search)
        let kept = Monitor<[[UInt8]: KeepReason]>([:])
        let found = try search.units(freeing: bytes, on: home, now: .later) { path, reason in
            kept.withLock { $0[path] = reason }
        }
        let reasons = kept.withLock { $0 }.map { (name($0.key), $0.value) }
        return (
            found.units.map { name($0.path) }, Dictionary(uniqueKeysWithValues: reasons), found
        )
    }

    private func name(_ path: [UInt8]) -> String {
        String(decoding: path.dropFirst(home.bytes.count + 1), as: UTF8.self)
    }
}

extension FileTime {
    /// A time after everything that a test makes.
    static let later = FileTime(seconds: 4_000_000_000, nanoseconds: 0)
}

/// Calls `body` with a home that holds a tree.
func withHome<Result>(_ tree: Tree, _ body: (HomeFixture) throws -> Result) throws -> Result {
    try withTemporaryDirectory(containing: tree) { home in
        try body(HomeFixture(home: home, environment: ["HOME": home]))
    }
}

/// Text that takes a block on every filesystem.
let block = String(repeating: "x", count: 5000)
