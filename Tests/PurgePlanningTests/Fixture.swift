import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport

@testable import PurgePlanning

/// A home with caches and documents, in which units are looked for.
struct HomeFixture {
    let home: FilePath
    var environment: [String: FilePath]
    /// Directories of the home for temporary files.
    var temporary: [String] = []
    var passwordDatabase: FilePath = "/dev/null"
    /// The user who deletes, as far as the environment says.
    var user = effectiveUser()

    init(home: FilePath) {
        self.home = home
        environment = ["HOME": home]
    }

    /// A search with the settings of this home, for items of any age.
    func search(minimumAge: Int64? = 0) -> UnitSearch {
        let named = temporary.map { StorageLocation(kind: .temporary, path: home.appending($0)) }
        let settings = PolicyEnvironment(
            environment: environment, passwordDatabase: passwordDatabase, user: user,
            named: named)
        var search = UnitSearch(settings)
        search.minimumAge = minimumAge
        search.smallest = 0
        search.roots = [home]
        search.temporaryFilesDirectories = [home.appending("tmpfiles.d")]
        return search
    }

    /// What is found in the home for a number of bytes, and what is kept, by paths in the home.
    func found(
        freeing bytes: Int64 = .max, on volume: FilePath? = nil, now: FileTime = .later,
        _ change: (inout UnitSearch) -> Void = { _ in }
    ) throws -> (units: [String], kept: [String: KeepReason], FoundUnits) {
        var search = search()
        change(&search)
        let kept = Monitor<[[UInt8]: KeepReason]>([:])
        let found = try search.units(freeing: bytes, on: volume ?? home, now: now) {
            path, reason in
            kept.withLock { $0[path] = reason }
        }
        let reasons = kept.withLock { $0 }.map { (name($0.key), $0.value) }
        return (found.units.map { name($0.path) }, Dictionary(uniqueKeysWithValues: reasons), found)
    }

    /// The path of something in the home.
    func callAsFunction(_ path: String) -> FilePath { home.appending(path) }

    func name(_ path: [UInt8]) -> String {
        let inside = FilePath(bytes: path).components.dropFirst(home.components.count)
        return FilePath(root: nil, inside).string
    }
}

extension FileTime {
    /// A time after everything that a test makes.
    static let later = FileTime(seconds: 4_000_000_000, nanoseconds: 0)

    /// The time so many hours after now.
    static func after(hours: Int64) -> FileTime {
        var time = FileTime.now
        time.seconds += hours * 3600
        return time
    }
}

/// Makes a home that holds a tree.
func homeFixture(@TreeBuilder _ items: () -> [any TreeItem]) throws -> HomeFixture {
    HomeFixture(home: try temporaryDirectory(containing: items))
}
