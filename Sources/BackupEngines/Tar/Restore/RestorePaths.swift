/// The items of an archive to restore, and the paths to restore them to.
struct RestorePaths {
    private let includes: IncludedPaths
    /// The path to restore a file to when another hard link to it is wanted, but its first name is
    /// not; by the first name's path.
    private var standIns: [[UInt8]: [UInt8]] = [:]
    /// The paths where the first names of files with several hard links are restored.
    private var firstPlaces: Set<[UInt8]> = []

    /// Reads the hard links in a manifest.
    ///
    /// - Parameter manifest: read to its end.
    init(_ includes: IncludedPaths, _ manifest: OpenManifest) throws(BackupError) {
        self.includes = includes
        while let item = try manifest.nextItem() {
            guard let first = item.hardLink, includes.hold(item.path) else { continue }
            if standIns[first] == nil, !includes.hold(first) { standIns[first] = item.path }
            firstPlaces.insert(place(ofFirst: first))
        }
    }

    /// Returns the path to restore an item to; nil when it is not restored.
    func place(of item: ManifestItem) -> [UInt8]? {
        if item.hardLink == nil, let standIn = standIns[item.path] { return standIn }
        guard includes.hold(item.path) else { return nil }
        // It was restored with the content.
        if let first = item.hardLink, standIns[first] == item.path { return nil }
        return item.path
    }

    /// Whether a file restored to a path gets further hard links later.
    func hasOtherNames(_ place: [UInt8]) -> Bool { firstPlaces.contains(place) }

    /// Returns the path to which the first name of a file is restored.
    func place(ofFirst path: [UInt8]) -> [UInt8] { standIns[path] ?? path }
}
