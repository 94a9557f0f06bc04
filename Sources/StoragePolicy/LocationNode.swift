import SystemCalls
import SystemPackage

/// A directory on the way to a location, in a tree of names from the filesystem root.
///
/// Names are compared only at its nodes: everything off the way has no node and is never asked for
/// its name.
@usableFromInline
final class LocationNode: Sendable {
    /// The location that begins here; nil on the way and at cut-outs.
    let location: StorageLocation?
    /// Whether what is here and below is no part of the location around it.
    let isCutOut: Bool
    /// Whether a cut-out lies below.
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
    /// The tree of the locations a backup of `source` leaves out: those strictly below it.
    ///
    /// - Returns: the node of `/`; nil when there are no such locations.
    func exclusionTree(below source: FilePath) -> LocationNode? {
        let leftOut = locations.filter { !$0.kind.isBackedUp && $0.path.isStrictlyBelow(source) }
        guard !leftOut.isEmpty else { return nil }
        var root = Draft()
        for location in leftOut {
            root.change(at: Array(location.path.components)[...]) { $0.location = location }
        }
        for path in cutOuts where leftOut.contains(where: { path.isStrictlyBelow($0.path) }) {
            root.change(at: Array(path.components)[...]) { $0.isCutOut = true }
        }
        return LocationNode(root)
    }
}
