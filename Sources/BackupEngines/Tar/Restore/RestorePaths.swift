/// Which items of an archive are restored, and where.
struct RestorePaths {
    private let includes: IncludedPaths
    /// The path to restore a file under whose own path is not wanted, while another name of it is.
    private var standIns: [[UInt8]: [UInt8]] = [:]
    /// Where the first names of files with several are restored.
    private var firstPlaces: Set<[UInt8]> = []

    /// - Parameter manifest: read to its end, to learn which names belong to one file.
    init(_ includes: IncludedPaths, _ manifest: OpenManifest) throws(BackupError) {
        self.includes = includes
        while let item = try manifest.nextItem() {
            guard let first = item.hardLink, includes.hold(item.path) else { continue }
            if standIns[first] == nil, !includes.hold(first) { standIns[first] = item.path }
            firstPlaces.insert(place(ofFirst: first))
        }
    }

    /// Where an item is restored; nil when it is not.
    func place(of item: ManifestItem) -> [UInt8]? {
        if item.hardLink == nil, let standIn = standIns[item.path] { return standIn }
        guard includes.hold(item.path) else { return nil }
        // It was restored when the content came.
        if let first = item.hardLink, standIns[first] == item.path { return nil }
        return item.path
    }

    /// Whether a file restored at a path gets other names later.
    func hasOtherNames(_ place: [UInt8]) -> Bool { firstPlaces.contains(place) }

    /// Where the first name of a file was restored.
    func place(ofFirst path: [UInt8]) -> [UInt8] { standIns[path] ?? path }
}
