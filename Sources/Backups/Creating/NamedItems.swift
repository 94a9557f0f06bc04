import BackupPlanning
import SystemCalls
import SystemPackage
import TextFormats

/// The items that restic named as stored, checked off in the plan's manifest.
struct NamedItems: Sendable {
    let manifest: PlanManifest
    /// The number of items of the SOURCEs that were named.
    private(set) var count: Int
    /// The paths that the plan excludes and restic named.
    private(set) var lostExclusions: [[UInt8]] = []
    /// Whether each item of the manifest was named.
    private var isNamed: [Bool]
    /// How often the printed name of each of the manifest's inexact paths was named, at the first of
    /// those that print alike.
    private var inexactCounts: [Int]
    /// Whether restic compared them with the snapshot made before.
    var isCompared = false
    /// The numbers of items below each SOURCE that were named, and of those that the snapshot made before
    /// has under the same path.
    private var counts: [(named: Int64, known: Int64)]
    /// The hashes of the other names.
    private var others: Set<UInt64> = []
    private let sources: SourceItems
    private let excluded: ExcludedPaths

    init(_ plan: BackupPlan, _ manifest: PlanManifest) {
        self.init(sources: plan.sources, exclusions: plan.exclusions, manifest)
    }

    init(sources: [FilePath], exclusions: [ExcludedItem], _ manifest: PlanManifest) {
        self.manifest = manifest
        self.sources = SourceItems(sources.map { FilePath(bytes: printedName($0.bytes)) })
        excluded = ExcludedPaths(
            exclusions.map { (printedName($0.path.bytes), $0.isDirectory, "") })
        isNamed = Array(repeating: false, count: manifest.count)
        inexactCounts = Array(repeating: 0, count: manifest.inexact.count)
        counts = Array(repeating: (0, 0), count: sources.count)
        // restic does not name the root directory.
        count = self.sources.unlistedCount
        if count > 0, let root = manifest.index(of: PlanManifest.hash([UInt8(ascii: "/")])) {
            isNamed[root] = true
        }
    }

    /// Checks off an item.
    ///
    /// - Parameters:
    ///   - name: as restic prints it; that of a directory ends with a slash.
    ///   - isKnown: whether the snapshot made before has an item at the same path.
    mutating func receive(_ name: [UInt8], isKnown: Bool = false) {
        var path = name
        if path.last == UInt8(ascii: "/") { path.removeLast() }
        // Otherwise it is the record, or a directory above a SOURCE.
        guard let source = sources.index(of: path) else { return }
        count += 1
        counts[source].named += 1
        if isKnown { counts[source].known += 1 }
        let hash = PlanManifest.hash(path)
        let isPlanned = path.contains(JSONScanner.lostByte) ? checkOffInexact(hash) : checkOff(hash)
        if isPlanned { return }
        if excluded.reason(for: path) != nil {
            lostExclusions.append(path)
        } else {
            others.insert(hash)
        }
    }

    private mutating func checkOff(_ hash: UInt64) -> Bool {
        guard let index = manifest.index(of: hash) else { return false }
        isNamed[index] = true
        return true
    }

    /// - Returns: false when more names were seen than paths that print alike.
    private mutating func checkOffInexact(_ hash: UInt64) -> Bool {
        let alike = manifest.inexactIndices(printed: hash)
        guard let first = alike.first, inexactCounts[first] < alike.count else { return false }
        inexactCounts[first] += 1
        if inexactCounts[first] == alike.count {
            for index in alike { _ = checkOff(manifest.inexact[index].path) }
        }
        return true
    }

    /// Returns how many files and directories of each SOURCE were named.
    func counts(of sources: [FilePath]) -> [[UInt8]: Int64] {
        Dictionary(zip(sources.map(\.bytes), counts.map(\.named))) { first, _ in first }
    }

    /// Returns how many of them the snapshot made before has under the same path.
    func knownCounts(of sources: [FilePath]) -> [[UInt8]: Int64] {
        Dictionary(zip(sources.map(\.bytes), counts.map(\.known))) { first, _ in first }
    }

    /// Whether an item of the manifest was named. Of several that print alike, none counts as named
    /// until all of them were.
    func contains(at index: Int) -> Bool { isNamed[index] }

    /// Whether a path was named, as restic prints it.
    func contains(printed path: [UInt8]) -> Bool {
        let hash = PlanManifest.hash(path)
        let alike = manifest.inexactIndices(printed: hash)
        if let first = alike.first { return inexactCounts[first] == alike.count }
        return manifest.index(of: hash).map { isNamed[$0] } ?? others.contains(hash)
    }
}
