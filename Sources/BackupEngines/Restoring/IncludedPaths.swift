import SystemCalls

/// The paths of a snapshot that a restore includes.
package struct IncludedPaths: Sendable {
    /// The paths; empty for everything.
    package let paths: [[UInt8]]

    /// Creates a selection.
    ///
    /// - Parameter paths: absolute paths; empty for everything.
    package init(_ paths: [[UInt8]]) { self.paths = paths }

    /// Whether everything is wanted.
    package var isEverything: Bool { paths.isEmpty }

    /// Whether a path is one of these, or below one.
    package func hold(_ path: [UInt8]) -> Bool {
        paths.isEmpty || paths.contains { isHeld(path, by: $0) }
    }

    /// Finds the paths that match no entry of a snapshot.
    struct Finder: SnapshotEntryHandler {
        private(set) var missing: [[UInt8]]

        init(_ includes: IncludedPaths) { missing = includes.paths }

        mutating func receive(_ entry: SnapshotEntry) {
            missing.removeAll { isHeld(entry.path, by: $0) }
        }
    }
}
