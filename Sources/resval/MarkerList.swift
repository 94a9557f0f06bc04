import ArgumentParser
import StoragePolicy

/// A comma-separated list of kinds of foreign marks.
struct MarkerList {
    /// The kinds that `import` reads: all except the native one.
    static let importable: [Marker] = [.apple, .xdg, .nodump, .cachedir, .nobackup]
    /// The kinds that `export` writes: those stored on the item itself.
    static let exportable: [Marker] = [.xdg, .apple, .nodump]

    let markers: Set<Marker>

    init(_ text: String, valid: [Marker]) throws {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        var markers: Set<Marker> = []
        for name in names {
            guard let marker = valid.first(where: { $0.rawValue == name }) else {
                let known = valid.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("unknown mark '\(name)' (valid: \(known))")
            }
            markers.insert(marker)
        }
        self.markers = markers
    }
}
