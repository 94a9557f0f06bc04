import ArgumentParser
import StoragePolicy

/// Kinds of foreign marks, given with commas between them.
struct MarkerList {
    /// What import understands: every mark but the native one.
    static let importable: [Marker] = [.apple, .xdg, .nodump, .cachedir, .nobackup]
    /// What export writes: the marks that stand on items themselves.
    static let exportable: [Marker] = [.xdg, .apple, .nodump]

    let markers: Set<Marker>

    init(_ text: String, valid: [Marker]) throws {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        var markers: Set<Marker> = []
        for name in names {
            guard let marker = valid.first(where: { $0.rawValue == name }) else {
                let known = valid.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("There is no mark '\(name)' to name here. Valid: \(known).")
            }
            markers.insert(marker)
        }
        self.markers = markers
    }
}
