import SystemCalls
import SystemPackage

/// Where the space below directories goes.
///
/// All numbers are the same whatever the order of the walk was. What several directories share, by
/// hard links or clones, belongs to the deepest directory that contains all of it, so that the sums
/// of a directory are those of its entries and of what they share.
public struct UsageReport: Sendable {
    /// The directories that were measured, sorted by path; those inside another are in that one.
    public let roots: [UsageDirectory]
    /// The sums of all roots, as of a directory that contains them. It has no path.
    public let total: UsageDirectory
    /// The errors with items, directories and roots whose bytes are missing.
    public let problems: [FileError]
    /// Whether the walk was stopped, so that the report has only what was met until then.
    public let isPartial: Bool
    /// Whether files that share extents count in full, each one: there are such files, perhaps, and
    /// ``UsageMeter/countsSharedExtentsOnce`` is not set.
    public let countsClonesInFull: Bool
    /// Whether ``UsageDirectory/freed`` is only a greatest value: it includes extents that several
    /// files share, and a snapshot or a clone that was not met may keep them.
    public let freedIsAtMost: Bool
    /// The sizes of files that share extents with others, in bytes; nil if they were not counted.
    public let cloneSize: Int64?
    /// The number of directories that were met.
    public let directoryCount: Int
    private let classes: [(UsageClass, UsageAmount)]

    init(_ measured: consuming UsageState, isPartial: Bool, countsClones: Bool) {
        measured.finish()
        problems = measured.problems.sorted {
            ($0.path?.bytes ?? []).lexicographicallyPrecedes($1.path?.bytes ?? [])
        }
        self.isPartial = isPartial
        countsClonesInFull = measured.countsClonesInFull
        freedIsAtMost = measured.mayShareOutside
        cloneSize = measured.countsClonesInFull || !countsClones ? nil : measured.cloneSize
        classes = zip(measured.classes.entries, measured.amounts.amounts)
            .map { ($0.value, $1) }.filter { $0.1 != UsageAmount() }
        directoryCount = measured.tree.count - 1
        let directories = MeasuredDirectories(
            tree: measured.tree, classes: measured.classes.entries.map(\.value),
            sharedBelow: measured.sharedBelow)
        total = UsageDirectory(directories, number: 0)
        roots = total.children.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Returns the bytes by one property of their class. Every byte is in exactly one amount.
    public func amounts<Property: Hashable>(
        by property: (UsageClass) -> Property
    ) -> [Property: UsageAmount] {
        classes.reduce(into: [:]) { amounts, entry in
            amounts[property(entry.0), default: UsageAmount()].add(entry.1)
        }
    }

    /// Returns a directory that was measured; nil if there is none at this path.
    ///
    /// - Parameter path: a real path.
    public func directory(at path: FilePath) -> UsageDirectory? {
        guard let root = roots.first(where: { path.isHeld(by: $0.path) }) else { return nil }
        return path.components.dropFirst(root.path.components.count)
            .reduce(root) { directory, name in
                directory?.children.first { $0.name == name.bytes }
            }
    }
}

final class MeasuredDirectories: Sendable {
    let tree: UsageTree
    let classes: [UsageClass]
    let sharedBelow: [UInt32: Int64]

    init(tree: UsageTree, classes: [UsageClass], sharedBelow: [UInt32: Int64]) {
        self.tree = tree
        self.classes = classes
        self.sharedBelow = sharedBelow
    }
}

/// A directory that was measured, with everything in it. Sizes are in bytes.
public struct UsageDirectory: Sendable {
    private let directories: MeasuredDirectories
    /// The number by which the walk knows the directory.
    package let number: UInt32

    init(_ directories: MeasuredDirectories, number: UInt32) {
        self.directories = directories
        self.number = number
    }

    private var record: UsageTree.Record { directories.tree[number] }

    /// The name's bytes; of a root the whole path.
    public var name: [UInt8] { Array(directories.tree.name(of: number)) }

    /// The absolute path.
    public var path: FilePath { FilePath(bytes: pathBytes) }

    /// The path's bytes. Takes time in proportion to their number.
    package var pathBytes: [UInt8] {
        var names: [[UInt8]] = []
        var next = number
        while next != 0 {
            names.append(Array(directories.tree.name(of: next)))
            next = directories.tree[next].parent
        }
        // The root directory's name is the slash that separates it from the next name.
        if names.count > 1, names.last == [slash] { names[names.count - 1] = [] }
        return Array(names.reversed().joined(separator: [slash]))
    }

    /// The path's bytes; nil for a directory in another whose path has more than so many bytes.
    /// Takes time in proportion to that number.
    package func pathBytes(upTo limit: Int) -> [UInt8]? {
        var (next, count) = (number, -1)
        while next != 0 {
            count += directories.tree.nameLength(of: next) + 1
            next = directories.tree[next].parent
            if count > limit, depth > 0 { return nil }
        }
        return pathBytes
    }

    /// The number of directories above it, from 0 for a root.
    public var depth: Int { Int(record.depth) - 1 }

    /// The sizes of the regular files.
    public var apparent: Int64 { record.tally.apparent }

    /// What everything takes on disk, as `du` counts it.
    public var allocated: Int64 { record.tally.allocated }

    /// What of ``allocated`` deleting the directory frees: all but what has a name, or shares an
    /// extent, or is bound from, outside.
    public var freed: Int64 { allocated.subtractingSaturating(record.tally.notFreed) }

    /// What of ``allocated`` backups exclude.
    public var excluded: Int64 { record.tally.excludedInAll }

    /// What of ``allocated`` has a fate.
    public func allocated(_ fate: UsageFate) -> Int64 { record.tally.allocated(fate) }

    /// What of ``allocated`` belongs to several of the directories in it.
    public var sharedBelow: Int64 { directories.sharedBelow[number] ?? 0 }

    /// What happens to an entry without a mark of its own; nil for what is not a directory that was
    /// entered.
    public var entryClass: UsageClass? {
        let number = Int(record.entryClass)
        return number < directories.classes.count ? directories.classes[number] : nil
    }

    /// The number of regular files; one with several names counts once.
    public var fileCount: Int64 { record.tally.fileCount }

    /// Whether the directory was read to its end.
    public var wasRead: Bool { record.state == .read || record.state == .file }

    /// Whether this is the mount point of a filesystem that was not entered, and so is not counted:
    /// of one that backups do not enter, or of what is counted at another path.
    public var isForeignMount: Bool { record.state == .foreignMount }

    /// Whether this is a root that is not a directory.
    public var isFile: Bool { record.state == .file }

    /// The directories in it, in no particular order.
    public var children: [UsageDirectory] {
        var children: [UsageDirectory] = []
        var next = record.firstChild
        while next != 0 {
            children.append(UsageDirectory(directories, number: next))
            next = directories.tree[next].nextSibling
        }
        return children
    }
}

private let slash = UInt8(ascii: "/")
