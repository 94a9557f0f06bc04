import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

/// The regular files below a directory, sorted by path, and what could not be read.
package struct RegularFiles: Sendable {
    /// The files, as the directory was given.
    package private(set) var files: [FilePath] = []
    /// Directories that could not be read.
    package private(set) var troubles: [FileError] = []

    /// Walks a directory; places that are needed are not entered.
    package init(
        below directory: FilePath, without places: NeededPlaces,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws(FileError) {
        let found = Monitor(Found())
        let scanner = TreeScanner(followsRoots: false, shouldStop: shouldStop)
        try scanner.scan([TreeRoot(directory)]) { _ in Collector(places, found) }
        let result = found.withLock { $0 }
        files = result.files.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        troubles = result.troubles
    }

    private struct Found: Sendable {
        var files: [FilePath] = []
        var troubles: [FileError] = []
    }

    private struct Collector: TreeVisitor {
        private let places: NeededPlaces
        private let found: Monitor<Found>
        private var own = Found()

        init(_ places: NeededPlaces, _ found: Monitor<Found>) {
            self.places = places
            self.found = found
        }

        mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
            switch entry.kind {
            case .regularFile:
                own.files.append(entry.path)
                return .skip
            case .directory:
                return isNeeded(entry) ? .skip : .descend(())
            default:
                return .skip
            }
        }

        mutating func cannotRead(_ error: FileError) { own.troubles.append(error) }

        mutating func finish() {
            let own = own
            found.withLock {
                $0.files += own.files
                $0.troubles += own.troubles
            }
        }

        private func isNeeded(_ entry: borrowing TreeEntry) -> Bool {
            do throws(Errno) {
                return places.isPlace(try entry.status().identity)
            } catch {
                // Whether it can be read shows when it is.
                return false
            }
        }
    }
}
