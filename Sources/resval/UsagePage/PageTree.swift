import SystemCalls

/// A tree of directories as the page shows it.
struct PageTree: Sendable {
    /// What happens to bytes: each value is the reason in words.
    struct State: Sendable, Hashable {
        /// Why backups exclude them; nil for what is backed up.
        var excluded: String?
        /// Why they may be deleted when space is short; nil for what may not.
        var purgeable: String?
        /// Their protection class, and whether anything enforces it; nil for none.
        var protection: String?
    }

    /// A directory, with the sizes of what is in it but in no directory below.
    struct Directory: Sendable {
        /// The path of a root, else the name.
        let name: [UInt8]
        /// 0 for the first directory of the tree.
        let depth: Int
        /// Whether backups exclude what is in it.
        let isExcluded: Bool
        /// What the sizes do not say; nil for a directory that was read.
        let remark: Remark?
        /// The bytes on disk by what happens to them.
        let allocated: [State: Int64]
        /// The bytes of regular files.
        let apparent: Int64
        /// The bytes on disk that deleting it would not free.
        let notFreed: Int64
        /// The bytes on disk that several directories in it share.
        let sharedBelow: Int64
    }

    /// Why sizes are missing.
    enum Remark: Int, Sendable {
        /// The directory was not read to its end.
        case unread = 1
        /// It is a filesystem that was not measured.
        case foreignMount = 2
    }

    /// The directories, each after the one it is in and before the next beside it (preorder). If
    /// there are several roots, the first directory is only their sum.
    var directories: [Directory]
    var hasSumOfRoots: Bool
}

extension PageTree {
    /// Adds the tree to an object, as columns, which compress best.
    func add(to line: inout JSONLine) {
        let states = Set(directories.flatMap(\.allocated.keys)).sorted { $0.words < $1.words }
        line.add("states", objects: states) { state, line in
            line.add("excluded", state.excluded)
            line.add("purgeable", state.purgeable)
            line.add("protection", state.protection)
        }
        line.add("hasSumOfRoots", hasSumOfRoots)
        line.add("names", strings: directories.lazy.map { NameEscaping.text($0.name) })
        line.add("depths", numbers: directories.lazy.map(\.depth))
        line.add("isExcluded", numbers: directories.lazy.map { $0.isExcluded ? 1 : 0 })
        line.add("remarks", numbers: directories.lazy.map { $0.remark?.rawValue ?? 0 })
        line.add("apparent", numbers: directories.lazy.map(\.apparent))
        line.add("notFreed", numbers: directories.lazy.map(\.notFreed))
        line.add("sharedBelow", numbers: directories.lazy.map(\.sharedBelow))
        let numbers = Dictionary(uniqueKeysWithValues: zip(states, states.indices))
        let pieces = directories.flatMap { directory in
            directory.allocated.map { (state: numbers[$0.key, default: 0], size: $0.value) }
                .sorted { $0.state < $1.state }
        }
        line.add("pieceCounts", numbers: directories.lazy.map(\.allocated.count))
        line.add("pieceStates", numbers: pieces.lazy.map(\.state))
        line.add("pieceSizes", numbers: pieces.lazy.map(\.size))
    }
}

extension PageTree.State {
    /// The order of states in the page.
    fileprivate var words: String {
        [excluded, purgeable, protection].map { $0 ?? "" }.joined(separator: "\0")
    }
}
