import EffectiveValues
import SystemCalls
import SystemPackage

/// A plan, and the path of everything it stores, each followed by a NUL, for other backup tools.
///
/// A directory comes directly before its contents, so that a tool that restores item by item sets
/// a directory's attributes last. The directories above the SOURCEs are in the list, too: a tool
/// would create them with permissions of its own.
public struct NulList: Sendable {
    /// The plan.
    public package(set) var plan: BackupPlan
    /// The names in each directory, as in ``BackupPlan/names``.
    private var names: [[UInt8]: [UInt8]]
    /// The path of the directory that is not in the list itself, as a key of ``names``.
    private let base: [UInt8]
    private let isRelative: Bool

    /// Creates the list of a plan that was made with names.
    ///
    /// - Throws: `FileError` for a source that is not in the directory.
    fileprivate init(
        _ plan: BackupPlan, below directory: FilePath, isRelative: Bool
    ) throws(FileError) {
        self.plan = plan
        self.plan.names = nil
        names = plan.names ?? [:]
        base = directory == "/" ? [] : directory.bytes
        self.isRelative = isRelative
        for source in plan.sources where source != directory {
            guard source.starts(with: directory) else {
                throw FileError(
                    code: .other, message: "is not in the directory that names are relative to",
                    advice: "name a directory above it with --relative-to", path: source)
            }
            var above = source.removingLastComponent()
            while above != directory {
                names[above.bytes, default: []] += []
                above.removeLastComponent()
            }
        }
    }

    /// Calls `body` with the list, piece by piece.
    public func forEachPiece(_ body: ([UInt8]) throws -> Void) rethrows {
        var piece: [UInt8] = []
        func append(_ path: [UInt8]) throws {
            piece += isRelative ? Array("./".utf8) + path.dropFirst(base.count + 1) : path
            piece.append(0)
            guard piece.count >= 65536 else { return }
            try body(piece)
            piece.removeAll(keepingCapacity: true)
        }
        for directory in names.keys.sorted(by: pathPrecedes) {
            if directory != base { try append(directory) }
            let own = (names[directory] ?? []).split(separator: 0)
            for name in own.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                try append(directory + [UInt8(ascii: "/")] + name)
            }
        }
        if !piece.isEmpty { try body(piece) }
    }
}

/// Whether a path comes before another in a list or a snapshot: a directory before its contents, and the
/// entries of a directory by the bytes of their names.
package func pathPrecedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    for (one, other) in zip(first, second) where one != other {
        // The end of a name sorts before any byte of a longer one.
        if one == slash { return true }
        if other == slash { return false }
        return one < other
    }
    return first.count < second.count
}

extension BackupPlanner {
    /// Builds a plan and the list of what it stores.
    ///
    /// Paths that most tools cannot open are excluded, whatever ``longestPath`` is.
    ///
    /// - Parameters:
    ///   - sources: as for ``makePlan(for:)``.
    ///   - base: a directory above all sources, or the only source. Names are relative to it, and
    ///     begin with `./`: without that, rsync drops a name that begins with `#` or `;`. It is not in
    ///     the list itself, because rsync would copy all of its entries. Nil for absolute paths.
    /// - Throws: as ``makePlan(for:)``; `FileError` when `base` is not a directory, or a source is
    ///   not in it.
    public func makeList(
        for sources: [FilePath], relativeTo base: FilePath? = nil
    ) throws -> NulList {
        let directory = try realPath(of: base ?? "/")
        // A SOURCE that is a file would be missing from the list.
        guard try directory.fileStatus().kind == .directory else {
            throw FileError(Errno.notDirectory, of: directory)
        }
        var planner = self
        // PATH_MAX less the NUL, and less the dot before a name that is relative to the root.
        planner.longestPath = 4094
        planner.listsNames = true
        let plan = try planner.makePlan(for: sources)
        return try NulList(plan, below: directory, isRelative: base != nil)
    }
}
