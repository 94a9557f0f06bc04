import SystemCalls
import SystemPackage

/// What a Git clone shows of work that was done in it: its index records what each file was like when it
/// was checked out, and the log of its HEAD what made it go there.
enum GitIndex {
    /// Whether a tracked file of the clone was edited since it was checked out, or edits were staged,
    /// committed or stashed in it, or it has worktrees or clones of its own; true also when that cannot be
    /// determined.
    ///
    /// - Parameter git: the directory `.git` of the clone.
    static func showsEdits(in git: borrowing some FileLocation & ~Copyable) -> Bool {
        do throws(Errno) {
            let directory = OpenDirectory(
                try openPreservingAccessTime(
                    git, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
            for path in ["refs/stash", "worktrees", "modules"] as [FilePath]
            where try !isMissing(path, in: directory) {
                return true
            }
            if try !isMissing("packed-refs", in: directory),
                try contents(of: "packed-refs", in: directory).contains("refs/stash".utf8)
            {
                return true
            }
            guard let fetched = try lastFetch(in: contents(of: "logs/HEAD", in: directory)),
                let files = files(in: try contents(of: "index", in: directory), fetched: fetched)
            else { return true }
            let clone = try directory.openParent()
            for file in files where try file.isEdited(in: clone) { return true }
            return false
        } catch {
            return true
        }
    }

    /// Returns when HEAD went to a commit of others last, in seconds; nil where its log has anything else, or
    /// is not whole, from the first commit on. git expires old lines.
    private static func lastFetch(in log: [UInt8]) -> Int64? {
        let fetching = [
            "clone: ", "checkout: ", "fetch", "reset: moving to ", "pull: Fast-forward",
        ]
        // Before the first there was none, which has the number zero.
        guard log.starts(with: repeatElement(UInt8(ascii: "0"), count: 40)) else { return nil }
        let lines = log.split(separator: UInt8(ascii: "\n"))
            .map { $0.split(separator: UInt8(ascii: "\t"), maxSplits: 1) }
        guard
            lines.allSatisfy({ line in
                fetching.contains { line.count == 2 && line[1].starts(with: $0.utf8) }
            })
        else { return nil }
        // The zone follows the time.
        let time = lines.last?.first?.split(separator: UInt8(ascii: " ")).dropLast().last
        return time.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    private static func isMissing(
        _ path: FilePath, in directory: OpenDirectory
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = OwnedDescriptor(
                try openBeneath(path, in: directory.descriptor, flags: [.reference, .noFollow]))
            return false
        } catch .noSuchFileOrDirectory {
            return true
        }
    }

    private static func contents(
        of path: FilePath, in directory: OpenDirectory
    ) throws(Errno) -> [UInt8] {
        let file = OwnedDescriptor(
            try openBeneathPreservingAccessTime(
                path, in: directory.descriptor,
                flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal]))
        return try SystemCalls.contents(
            ofOpen: file.descriptor, file.descriptor.status(), limit: 64 << 20)
    }

    private struct File {
        let path: FilePath
        let size: UInt32
        let seconds: UInt32
        /// 0 where the times of Git have seconds only.
        let nanoseconds: UInt32
        let kind: FileKind

        func isEdited(in clone: OpenDirectory) throws(Errno) -> Bool {
            do throws(Errno) {
                let file = OwnedDescriptor(
                    try openBeneath(path, in: clone.descriptor, flags: [.reference, .noFollow]))
                let status = try file.descriptor.status()
                let time = status.contentModificationTime
                return status.kind != kind
                    || UInt32(truncatingIfNeeded: status.size) != size
                    || UInt32(truncatingIfNeeded: time.seconds) != seconds
                    || nanoseconds != 0 && UInt32(time.nanoseconds) != nanoseconds
            } catch  where error == .noSuchFileOrDirectory || error == .notDirectory {
                return false
            }
        }
    }

    /// Parses an index of version 2 or 3 whose names are SHA-1; nil for any other, for one with clones in
    /// the clone, and for one in which something was staged.
    private static func files(in index: [UInt8], fetched: Int64) -> [File]? {
        func number(at offset: Int) -> UInt32 {
            index[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard index.count >= 12, index.starts(with: "DIRC".utf8) else { return nil }
        let version = number(at: 4)
        guard version == 2 || version == 3 else { return nil }
        var files: [File] = []
        var start = 12
        for _ in 0..<number(at: 8) {
            guard start + 62 <= index.count else { return nil }
            let isExtended = version == 3 && index[start + 60] & 0x40 != 0
            let path = index[(start + (isExtended ? 64 : 62))...].prefix { $0 != 0 }
            // At least one NUL follows, up to a multiple of eight bytes.
            let end = start + (path.endIndex - start + 8) / 8 * 8
            // A commit that a hook refused hides what was staged, but not its later time; 0 is unknown.
            let changed = Int64(number(at: start))
            guard !path.isEmpty, end <= index.count, changed != 0,
                changed.subtractingSaturating(fetched) <= 60,
                index[path.endIndex..<end].allSatisfy({ $0 == 0 })
            else { return nil }
            // Others are clones in the clone.
            let kinds: [UInt32: FileKind] = [8: .regularFile, 10: .symbolicLink]
            guard let kind = kinds[number(at: start + 24) >> 12] else { return nil }
            files.append(
                File(
                    path: FilePath(bytes: path), size: number(at: start + 36),
                    seconds: number(at: start + 8), nanoseconds: number(at: start + 12),
                    kind: kind))
            start = end
        }
        return isUnstaged(index[start...]) ? files : nil
    }

    /// Whether the extensions of an index say that it is a tree as it was checked out: staging a file
    /// invalidates the tree's record.
    private static func isUnstaged(_ extensions: ArraySlice<UInt8>) -> Bool {
        var rest = extensions
        while rest.count >= 8 {
            let size = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let content = rest.dropFirst(8).prefix(size)
            if rest.starts(with: "TREE".utf8) {
                // The root: an empty name, and how many entries it has, -1 where that is not known.
                return content.first == 0 && content.dropFirst().first != UInt8(ascii: "-")
            }
            rest = rest.dropFirst(8 + size)
        }
        return false
    }
}
