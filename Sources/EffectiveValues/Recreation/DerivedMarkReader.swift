import StoragePolicy
import SystemCalls
import SystemPackage

/// Reads what marks items without being stored on them: the rules for what tools re-create, and what
/// git ignores.
///
/// Shared by the threads of a walk, which may call it at the same time.
final class DerivedMarkReader: Sendable {
    private let rules: RecreationRules?
    let workTrees: WorkTrees
    private let ignored: IgnoredItems?
    private let contents = ContentSearch()

    /// - Parameters:
    ///   - rules: the rules; nil if the marker ``Marker/rules`` does not count.
    ///   - ignored: the items that git ignores; nil if ``Marker/gitignore`` does not count.
    init(rules: RecreationRules?, ignored: IgnoredItems? = nil, git: GitCommand = GitCommand()) {
        self.rules = rules
        self.ignored = ignored
        workTrees = WorkTrees(homes: rules?.homes ?? [], git)
    }

    /// Creates the reader for markers, with the user's own rules.
    ///
    /// - Throws: ``FileError`` as ``RecreationRules/current()``.
    static func current(_ markers: Set<Marker>) throws(FileError) -> DerivedMarkReader {
        let rules = try RecreationRules.current()
        let git = GitCommand()
        return DerivedMarkReader(
            rules: markers.contains(.rules) ? rules : nil,
            ignored: markers.contains(.gitignore) ? IgnoredItems(rules, git) : nil, git: git)
    }

    /// Adds the marks of an item. One that cannot be read, or is not certain, does not count and is
    /// noted as such.
    ///
    /// - Parameter status: the item's status, if already known.
    func read(
        _ location: borrowing some FileLocation & ~Copyable, _ kind: FileKind,
        _ status: FileStatus?, into found: inout ForeignMarks
    ) {
        if let rules, kind == .directory || kind == .unknown {
            found.read(.rules) { found throws(Errno) in
                try apply(rules, to: location, into: &found)
            }
        }
        if let ignored {
            found.read(.gitignore) { found throws(Errno) in
                try ignored.read(location, kind, status, into: &found)
            }
        }
    }

    private func apply(
        _ rules: RecreationRules, to location: borrowing some FileLocation & ~Copyable,
        into found: inout ForeignMarks
    ) throws(Errno) {
        if let name = try location.name(), !rules.mayFit(name) { return }
        let directory = OpenDirectory(
            try openFile(location, flags: [.reference, .directory, .noFollow]))
        let path = try realPath(ofOpen: directory.descriptor)
        let names = path.names.map { Array($0) }
        guard let (recreation, rule) = try rules.recreation(of: names, directory) else { return }
        switch try workTrees.tracking(of: path, directory) {
        case .tracked: return
        case .unknown(let reason):
            found.uncertain[.rules] = "\(recreation.proof), but \(reason)"
        case .untracked:
            let question = ContentSearch.Question(
                passed: rule.clonesInto, asksForPreciousFiles: !rule.isWhole)
            let content = try contents.content(
                in: directory, at: path, asking: question, isPrecious: rules.isPrecious)
            if let content {
                found.uncertain[.rules] = "\(recreation.proof), but \(content) is in it"
                return
            }
            found.recreation = recreation
            found.excluding.insert(.rules)
        }
    }
}

extension FileLocation where Self: ~Copyable {
    /// The name by which the item is reached; nil for an open file, and for a path that ends in a
    /// slash or in dots.
    fileprivate func name() throws(Errno) -> [UInt8]? {
        try withCallTarget { target throws(Errno) in
            let path = FilePath(platformString: target.path)
            guard let last = path.lastComponent, last.kind == .regular else { return nil }
            return last.bytes
        }
    }
}
