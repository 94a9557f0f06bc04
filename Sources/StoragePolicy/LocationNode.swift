import SystemCalls
import SystemPackage

/// A directory on the path to a location, in a tree of names from the filesystem root.
///
/// Names are compared only at nodes: an item off these paths has no node, and its name is never
/// requested.
@usableFromInline
final class LocationNode: Sendable {
    /// The location at this directory; nil on the path to one and at cut-outs.
    let location: StorageLocation?
    /// Whether this directory and everything below is not part of the surrounding location.
    let isCutOut: Bool
    /// Whether a cut-out is below this directory.
    let holdsCutOut: Bool
    private let entries: [[UInt8]: LocationNode]

    fileprivate init(_ draft: Draft) {
        location = draft.location
        isCutOut = draft.isCutOut
        entries = draft.entries.mapValues { LocationNode($0) }
        holdsCutOut = entries.values.contains { $0.isCutOut || $0.holdsCutOut }
    }

    var isLeaf: Bool { entries.isEmpty }

    @usableFromInline
    func entry(named name: [UInt8]) -> LocationNode? { entries[name] }
}

private struct Draft {
    var location: StorageLocation?
    var isCutOut = false
    var entries: [[UInt8]: Draft] = [:]

    mutating func change(
        at components: ArraySlice<FilePath.Component>, _ body: (inout Draft) -> Void
    ) {
        guard let first = components.first else { return body(&self) }
        entries[first.bytes, default: Draft()]
            .change(at: components.dropFirst(), body)
    }
}

extension StorageLocations {
    /// Returns the tree of the locations that a backup of `source` excludes: those strictly below
    /// it.
    ///
    /// - Returns: the node of `/`; nil if there are no such locations.
    func exclusionTree(below source: FilePath) -> LocationNode? {
        let excluded = locations.filter { !$0.kind.isBackedUp && $0.path.isStrictlyBelow(source) }
        guard !excluded.isEmpty else { return nil }
        var root = Draft()
        for location in excluded {
            root.change(at: Array(location.path.components)[...]) { $0.location = location }
        }
        for path in cutOuts where excluded.contains(where: { path.isStrictlyBelow($0.path) }) {
            root.change(at: Array(path.components)[...]) { $0.isCutOut = true }
        }
        return LocationNode(root)
    }
}
