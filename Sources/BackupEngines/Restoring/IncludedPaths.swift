import SystemCalls

/// Which paths of a snapshot a restore is about.
package struct IncludedPaths: Sendable {
    /// The paths; none for everything.
    package let paths: [[UInt8]]

    /// - Parameter paths: absolute paths; none for everything.
    package init(_ paths: [[UInt8]]) { self.paths = paths }

    /// Whether everything is wanted.
    package var isEverything: Bool { paths.isEmpty }

    /// Whether a path is one of these, or below one.
    package func hold(_ path: [UInt8]) -> Bool {
        paths.isEmpty || paths.contains { isHeld(path, by: $0) }
    }

    /// The paths that none of a snapshot's entries was found for.
    struct Finder: SnapshotEntryHandler {
        private(set) var missing: [[UInt8]]

        init(_ includes: IncludedPaths) { missing = includes.paths }

        mutating func receive(_ entry: SnapshotEntry) {
            missing.removeAll { isHeld(entry.path, by: $0) }
        }
    }
}
