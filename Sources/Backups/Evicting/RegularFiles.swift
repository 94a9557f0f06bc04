import EffectiveValues
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

/// The selected regular files below a directory, sorted by path, and errors met on the way.
package struct RegularFiles: Sendable {
    package enum Choice: Sendable {
        /// Files worth evicting: those that use at least so many bytes on disk, are neither hidden
        /// nor below a hidden directory, and are not in a directory with a cache tag.
        case worthEvicting(minimumSize: Int64)
        case evicted
    }

    package struct File: Sendable {
        /// The path, starting with the directory as it was given.
        package let path: FilePath
        package let status: FileStatus
        /// The sign of an eviction; nil for a file that only was lent permission
        /// bits, and when choosing files worth evicting.
        package let sign: EvictionSign?
    }

    package private(set) var files: [File] = []
    package private(set) var troubles: [FileError] = []

    /// Walks a directory without entering those in `places`.
    package init(
        below directory: FilePath, wanting choice: Choice, without places: NeededPlaces,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws(FileError) {
        let found = Monitor(RegularFiles())
        let scanner = TreeScanner(followsRoots: false, shouldStop: shouldStop)
        try scanner.scan([TreeRoot(directory)]) { _ in
            Collector(choice: choice, places: places, found: found)
        }
        self = found.withLock { $0 }
        files.sort { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
    }

    private init() {}

    private struct Collector: TreeVisitor {
        let choice: Choice
        let places: NeededPlaces
        let found: Monitor<RegularFiles>
        var own = RegularFiles()

        mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
            if case .worthEvicting = choice, entry.depth > 0,
                entry.nameBytes.first == UInt8(ascii: ".")
            {
                return .skip
            }
            switch entry.kind {
            case .regularFile:
                look(at: entry)
                return .skip
            case .directory:
                return isExcluded(entry) ? .skip : .descend(())
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

        private mutating func look(at entry: borrowing TreeEntry) {
            do throws(FileError) {
                let status = try entry.fileStatus()
                switch choice {
                case .worthEvicting(let minimumSize):
                    guard status.allocatedSize >= minimumSize else { return }
                    own.files.append(File(path: entry.path, status: status, sign: nil))
                case .evicted:
                    let sign = try EvictionSign(of: entry, status)
                    guard sign != nil || status.hasLentPermissions else { return }
                    own.files.append(File(path: entry.path, status: status, sign: sign))
                }
            } catch  where error.code == .noSuchFile {
                // Deleted since its directory was read.
            } catch {
                own.troubles.append(error)
            }
        }

        private func isExcluded(_ entry: borrowing TreeEntry) -> Bool {
            do throws(Errno) {
                if places.isPlace(try entry.status().identity) { return true }
                guard case .worthEvicting = choice else { return false }
                return try TagFile.cacheDirectory.isValid(in: entry) == true
            } catch {
                // If it cannot be read, descending into it reports the error.
                return false
            }
        }
    }
}

/// The files and directories without which no evicted file could be downloaded. They and everything
/// below them are never evicted.
package struct NeededPlaces: Sendable {
    private var places: [FileIdentity: String] = [:]

    package init() {}

    /// Adds a file or directory, if it exists.
    ///
    /// - Parameter meaning: what it is, as a phrase such as `the repository`.
    package mutating func add(_ path: FilePath, _ meaning: String) {
        do throws(Errno) {
            places[try path.status().identity] = meaning
        } catch {
            // Nothing is below a path that does not exist or cannot be inspected.
        }
    }

    /// Adds a repository that is a directory, and what restic makes in it, which may be linked or mounted
    /// elsewhere.
    package mutating func add(repository: FilePath) {
        add(repository, "the repository")
        for name in Self.repositoryNames { add(repository.appending(name), "in the repository") }
    }

    private static let repositoryNames = ["config", "keys", "data", "index", "snapshots"]

    func isPlace(_ identity: FileIdentity) -> Bool { places[identity] != nil }

    /// Returns why a file is needed; nil when it is not.
    ///
    /// - Parameter path: an absolute path without symbolic links.
    func reason(for path: FilePath) throws(FileError) -> EvictionError? {
        if isPack(path) { return .needed("in a repository") }
        var ancestor = path
        while true {
            let identity = try ancestor.withoutFollowing.fileStatus().identity
            if let meaning = places[identity] { return .needed(meaning) }
            // It may be served to the other ones, or reached by another path. Where it cannot be looked
            // into, no file below it can be opened either.
            if Self.repositoryNames.allSatisfy({
                (try? itemExists(ancestor.appending($0))) == true
            }) {
                return .needed("in a repository")
            }
            if ancestor.components.isEmpty { return nil }
            ancestor.removeLastComponent()
        }
    }

    /// Whether a file is named as restic names packs, whose directory may be mounted or linked anywhere:
    /// by 64 hexadecimal digits, in a directory named by the first two.
    private func isPack(_ path: FilePath) -> Bool {
        let names = path.components.suffix(2).map(\.string)
        return names.count == 2 && names[0].utf8.count == 2 && names[1].hasPrefix(names[0])
            && ContentHash(hexadecimal: names[1].utf8) != nil
    }
}
