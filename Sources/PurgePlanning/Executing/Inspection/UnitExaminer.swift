import EffectiveValues
import FileTree
import StoragePolicy
import SystemCalls
import SystemPackage

/// An examination of single units by the search's own visitor, from `/` down, on open descriptors.
final class UnitExaminer {
    private let search: UnitSearch
    private let rules: PurgeRules
    let patience: Patience
    let processes: RunningProcesses
    /// The way to the unit that was examined last; nil when it is not to be used again.
    private var way: UnitWay?

    init(_ search: UnitSearch, _ rules: PurgeRules, _ patience: Patience) {
        self.search = search
        self.rules = rules
        self.patience = patience
        processes = search.runningProcesses()
    }

    /// Examines a unit: the marks above it, on it and in it, and whether it is in use.
    ///
    /// - Parameters:
    ///   - path: the unit's path.
    ///   - standIn: the name the unit has now; nil for its own name.
    ///   - first: the examination under its own name, if the unit has another one now.
    /// - Throws: the reason why it is kept.
    func examine(
        _ path: [UInt8], named standIn: [UInt8]? = nil, since first: Examination? = nil
    ) throws(KeepReason) -> Examination {
        let notes = Monitor<KeepReason?>(nil)
        let found = FirstUnits(PurgeAmount(bytes: .max))
        let sink = UnitSink(found, LateFindings(), rules) { _, reason in
            notes.withLock { $0 = reason }
        }
        do {
            guard let names = RelativePath(absolute: path)?.names, let name = names.last else {
                throw KeepReason.outsideRoots
            }
            var visitor = UnitVisitor(rules, sink)
            let way = try way(to: path, along: names, since: first, sink, &visitor)
            let place = way.entry(name)
            let (file, status) = try open(FilePath(bytes: standIn ?? name), in: place.parent)
            let contents = try look(at: file, status, place, on: way, &visitor)
            visitor.finish()
            guard let unit = found.found().units.first else {
                throw notes.withLock { $0 } ?? KeepReason.changed
            }
            try requireOwn(status, in: place)
            return Examination(
                unit: unit, place: place, root: way.root, leased: file.leased, contents: contents)
        } catch {
            let reason = KeepReason(reaching: error)
            // The reason given by the rules is more specific than that the walk stopped.
            throw reason == .changed ? notes.withLock { $0 } ?? reason : reason
        }
    }

    /// Records that this process removed the name of a unit, and so changed its directory.
    func didRemove(_ unit: Examination) {
        if way?.acceptRemoval(in: unit.place.parentStatus.identity) == false { way = nil }
    }

    // MARK: Path

    /// Returns the way to a unit: the last one if it may be used again, otherwise a new one.
    private func way(
        to path: [UInt8], along names: [[UInt8]], since first: Examination?, _ sink: UnitSink,
        _ visitor: inout UnitVisitor
    ) throws -> UnitWay {
        let parent = path.dropLast((names.last?.count ?? 0) + 1)
        if let way, way.leads(to: parent), way.isUnchanged {
            for directory in way.searchedDirectories { try requireUnlockedDirectory(directory) }
            return way
        }
        way = nil
        let begin = UnitWay.Begin()
        let root: ExaminedRoot
        if let first, first.root.point.path.bytes == path {
            // The unit is the root itself, and has another name now.
            root = first.root
        } else {
            root = try self.root(above: FilePath(bytes: path), sink)
        }
        let new = try reach(
            to: FilePath(bytes: path), along: names, from: root, since: begin, sink, &visitor)
        if new.canBeShared { way = new }
        return new
    }

    /// Descends from `/` to the directory of a unit; from the search root on by the rules of the
    /// search.
    private func reach(
        to path: FilePath, along names: [[UInt8]], from root: ExaminedRoot,
        since begin: UnitWay.Begin, _ sink: UnitSink, _ visitor: inout UnitVisitor
    ) throws -> UnitWay {
        var root = root
        let rootDepth = root.point.path.components.count
        var context = root.point.context
        var directory = try OpenDirectory(at: "/")
        var reached: [UInt8] = []
        var steps: [UnitWay.Step] = []
        for (depth, name) in names.enumerated() {
            let status = try directory.status()
            if let above = steps.last?.status, depth <= rootDepth {
                try requireSafeStep(from: above, at: depth - 1, to: status)
            }
            if rules.isProtectedRoot(status) { throw KeepReason.protectedRoot }
            if depth == rootDepth, status.identity != root.identity { throw KeepReason.changed }
            let nameAbove = depth > 0 ? names[depth - 1] : []
            let step = UnitWay.Step(
                FilePath(bytes: nameAbove), directory, status,
                losesEntries: depth == names.count - 1, since: begin)
            if depth == rootDepth, steps.contains(where: \.isRecent) {
                // Any mark above the root that is stored from now on is found out.
                let again = try self.root(above: path, sink)
                guard again.identity == root.identity else { throw KeepReason.changed }
                root = again
                context = root.point.context
            }
            if depth >= rootDepth {
                try requireUnlockedDirectory(directory)
                let item = ReachedItem(
                    .directory(directory), path: depth > 0 ? reached : [UInt8(ascii: "/")],
                    depth: depth - rootDepth)
                context = try descend(into: item, in: context, &visitor)
            }
            // A way that is not shared keeps no other directory open.
            if names.count > UnitWay.longest { steps.removeAll() }
            steps.append(step)
            if depth == names.count - 1 { break }
            reached.append(UInt8(ascii: "/"))
            reached += name
            directory =
                depth >= rootDepth
                ? try directory.openBeneath(FilePath(bytes: name), flags: .reference)
                : try directory.openDirectory(FilePath(bytes: name), flags: .reference)
        }
        return UnitWay(
            root, reached, context, depthOfEntries: names.count - rootDepth, steps: steps,
            since: begin)
    }

    /// Throws `unsafePath` when a step above the search root leads where another user decides.
    private func requireSafeStep(
        from directory: FileStatus, at depth: Int, to item: FileStatus
    ) throws(KeepReason) {
        do throws(UnsafeStep) {
            try UnsafeStep.check(from: directory, at: depth, to: item)
        } catch {
            throw .unsafePath
        }
    }

    private func root(above path: FilePath, _ sink: UnitSink) throws -> ExaminedRoot {
        let points = try search.startingPoints(rules, sink, lookingFor: path)
        guard let point = points.first(where: { path.isHeld(by: $0.path) }) else {
            let isGone = search.roots.contains { path.isHeld(by: $0) }
            throw isGone ? KeepReason.changed : KeepReason.outsideRoots
        }
        return ExaminedRoot(
            point: point, identity: try point.path.withoutFollowing.status().identity)
    }

    private func descend(
        into directory: ReachedItem, in context: PurgeContext, _ visitor: inout UnitVisitor
    ) throws -> PurgeContext {
        // The reason was recorded.
        guard case .descend(let below) = visitor.decide(on: directory, in: context) else {
            throw KeepReason.changed
        }
        guard below.unit == nil else { throw KeepReason.partOfUnit }
        return below
    }

    private func requireUnlockedDirectory(_ directory: OpenDirectory) throws {
        let opened = try inspect { () throws(Errno) in try directory.openToRead(".") }
        try requireUnlocked(opened.descriptor, patience)
    }

    // MARK: The unit

    private func look(
        at file: OpenedFile, _ status: FileStatus, _ place: UnitEntry, on way: UnitWay,
        _ visitor: inout UnitVisitor
    ) throws -> UnitContents {
        let depth = way.depthOfEntries
        if depth == 0 {
            guard status.identity == way.root.identity else { throw KeepReason.changed }
            let parentDepth = FilePath(bytes: place.parentPath).components.count
            try requireSafeStep(from: place.parentStatus, at: parentDepth, to: status)
        }
        let path = place.parentPath + [UInt8(ascii: "/")] + place.name
        let item = ReachedItem(file, path: path, depth: depth)
        let descent = visitor.decide(on: item, in: way.context)
        guard case .directory(let directory) = file else { return UnitContents() }
        guard case .descend(let below) = descent, below.unit != nil else {
            throw KeepReason.changed
        }
        let contents = try look(below: directory, status, path, depth: depth, in: below) {
            item, context in
            // The reason not to go below a directory was recorded.
            if case .descend(let below) = visitor.decide(on: item, in: context) { return below }
            return nil
        }
        visitor.leave(below)
        return contents
    }

    /// Opens everything below a directory, none of which may be in use.
    ///
    /// - Parameter decide: called with each item; returns what a directory passes to its entries, or nil
    ///   when these are not looked at.
    private func look(
        below top: OpenDirectory, _ status: FileStatus, _ path: [UInt8], depth: Int,
        in context: PurgeContext, _ decide: (ReachedItem, PurgeContext) throws -> PurgeContext?
    ) throws -> UnitContents {
        var contents = UnitContents(of: status.identity)
        var walk = DirectoryWalk(in: top, path: path, names: try top.names(), context: context)
        while let step = try walk.next() {
            guard case .entry(let name) = step else { continue }
            let (file, status) = try open(name, in: walk.directory)
            // A path of its own for each would take the square of the depth.
            let below = try decide(
                ReachedItem(
                    file, path: walk.path, name: name.bytes, depth: depth + 1 + walk.depth),
                walk.context)
            contents.add(status, named: name.bytes)
            guard case .directory(let directory) = file, let below else { continue }
            walk.enter(directory, names: try directory.names(), context: below)
        }
        return contents
    }

    /// Opens an item of the unit, which must not be in use or a mount point.
    private func open(
        _ name: FilePath, in directory: OpenDirectory
    ) throws -> (OpenedFile, FileStatus) {
        let status = try directory.location(of: name).statusAtHand()
        // A file can be a mount point too, and then hides the file below.
        if status.isMountRoot == true { throw KeepReason.mountPoint }
        let file = try OpenedFile(name, in: directory, status, patience)
        // The name may have been replaced: what is open is checked.
        let now = try file.descriptor.status()
        guard now.identity == status.identity, now.kind == status.kind else {
            throw KeepReason.changed
        }
        return (file, now)
    }

    /// Throws `foreignOwner` for an item of another user in a directory that others can write,
    /// where they could replace it. In a sticky directory only the owner can, so there other owners
    /// are allowed when the search includes them.
    private func requireOwn(_ unit: FileStatus, in place: UnitEntry) throws {
        let permissions = place.parentStatus.permissions
        let isSticky = permissions & 0o1000 != 0
        guard permissions & 0o022 != 0 || isSticky else { return }
        if unit.owner == rules.user { return }
        guard isSticky, rules.includesForeign else { throw KeepReason.foreignOwner }
    }
}

extension UnitExaminer {
    /// Returns why the removal of a directory, which was cut off, does not go on; nil when nothing protects
    /// or uses the directory by now. Its other rules were asked before, when it was whole.
    func reasonToKeep(_ record: AsideRecord, _ found: FileStatus, in place: UnitEntry)
        -> KeepReason?
    {
        do {
            let path = FilePath(bytes: record.asidePath)
            if let reason = rules.reasonToKeep(below: path) { return reason }
            if rules.leadsToProtected(found.identity) { return .protectedRoot }
            if !rules.seesAllProcesses { return .unseenProcesses }
            // What came later cannot be told by its time.
            if record.newestChange > .now { return .fromTheFuture }
            let contents = try look(aside: path, named: record.asideName, found, in: place)
            return reasonsToKeep([(contents, path.bytes)])[0]
        } catch {
            return KeepReason(reaching: error)
        }
    }

    /// Looks at all of a directory that was put aside. Nothing of it is open when this returns.
    private func look(
        aside path: FilePath, named name: [UInt8], _ found: FileStatus, in place: UnitEntry
    ) throws -> UnitContents {
        func context(_ decision: Decision) throws(KeepReason) -> PurgeContext {
            if decision.purgeability.cause.isProtected { throw .protected(decision.purgeability) }
            return PurgeContext(policy: decision.contextForEntries, area: .elsewhere)
        }
        // Also of the marks above it.
        let top = try EffectiveValueReader(rules.policy).item(at: path, followsLast: false)
        let below = try context(top.decision)
        let (file, status) = try open(FilePath(bytes: name), in: place.parent)
        guard case .directory(let directory) = file,
            Set([status.identity, top.status.identity]) == [found.identity]
        else { throw KeepReason.changed }
        let visitor = UnitVisitor(
            rules, UnitSink(FirstUnits(PurgeAmount()), LateFindings(), rules) { _, _ in })
        return try look(below: directory, status, path.bytes, depth: 0, in: below) {
            try context(visitor.look(at: $0, in: $1).decision)
        }
    }

    /// Returns, for each of several units, `processInside` when a process is in it, `inUse` when one has
    /// a file of it open, `mountedElsewhere` when it is mounted elsewhere, and nil when nothing uses it.
    ///
    /// While any is in use, all are looked at again for a while: the last look decides.
    ///
    /// - Parameter units: what is in the units, each with the path it has now.
    func reasonsToKeep(_ units: [(contents: UnitContents, path: [UInt8])]) -> [KeepReason?] {
        var reasons: [KeepReason?] = []
        do throws(KeepReason) {
            try patience.retry(while: { $0.mayPass }) { () throws(KeepReason) in
                reasons = processes.reasonsToKeep(units)
                let passing = reasons.lazy.compactMap { $0 }.first { $0.mayPass }
                if let passing { throw passing }
            }
        } catch {
            // It is among the reasons.
        }
        return reasons
    }
}

/// The current state of a unit, determined by the rules of the search.
struct Examination {
    /// The unit as the rules describe it now.
    let unit: PurgeUnit
    let place: UnitEntry
    let root: ExaminedRoot
    /// The leased file, when the unit is a regular file; nil for directories and symbolic links.
    let leased: LeasedFile?
    /// The content of a directory; empty for other units.
    let contents: UnitContents

    /// Whether a second examination of a directory found what the first one did. Renaming the
    /// directory changes only its own change time, which is not compared.
    func isUnchanged(since first: Examination) -> Bool {
        unit.identity == first.unit.identity && contents.digest == first.contents.digest
            && unit.itemCount == first.unit.itemCount && unit.bytes == first.unit.bytes
            && unit.pin.size == first.unit.pin.size
            && unit.pin.contentModificationTime == first.unit.pin.contentModificationTime
            && place.parentStatus.identity == first.place.parentStatus.identity
    }
}

/// A search root from which a unit was reached.
struct ExaminedRoot: Sendable {
    let point: TreeRoot<PurgeContext>
    let identity: FileIdentity
}

struct UnitContents: Sendable {
    /// A hash of the statuses of all items that does not depend on their order.
    private(set) var digest: UInt64 = 0
    /// The latest inode change time below the directory.
    private(set) var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// The directories, the top one included.
    private(set) var directories: Set<FileIdentity> = []
    /// All other items.
    private(set) var files: Set<FileIdentity> = []
    /// The names of all items but regular files, without the top one.
    private(set) var names: Set<[UInt8]> = []

    init(of top: FileIdentity? = nil) {
        if let top { directories.insert(top) }
    }

    mutating func add(_ status: FileStatus, named name: [UInt8]) {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(status.identity)
        hasher.combine(status.kind)
        hasher.combine(status.permissions)
        hasher.combine(status.owner)
        hasher.combine(status.size)
        hasher.combine(status.linkCount)
        hasher.combine(status.contentModificationTime)
        hasher.combine(status.attributeModificationTime)
        digest &+= UInt64(bitPattern: Int64(hasher.finalize()))
        newestChange = max(newestChange, status.attributeModificationTime)
        if status.kind != .regularFile { names.insert(name) }
        if status.kind == .directory {
            directories.insert(status.identity)
        } else {
            files.insert(status.identity)
        }
    }
}

extension PurgeUnit {
    /// Whether a unit is what the plan recorded: the same file or directory, with the same pin and item
    /// count, and no fewer bytes to free: there are more once what shared its blocks is deleted. Access
    /// times are not compared.
    func isAsPlanned(_ planned: PurgeUnit) -> Bool {
        path == planned.path && purgeClass == planned.purgeClass
            && isDirectory == planned.isDirectory && identity == planned.identity
            && pin == planned.pin && itemCount == planned.itemCount && bytes >= planned.bytes
    }
}

/// A unit's name in its parent directory, which was reached from `/` by descriptor.
struct UnitEntry: Sendable {
    /// The unit's name.
    let name: [UInt8]
    let parentPath: [UInt8]
    /// The parent directory, opened with `O_PATH`.
    let parent: OpenDirectory
    let parentStatus: FileStatus

    var directory: FileDescriptor { parent.descriptor }

    /// Returns the current status of a name in the directory; nil when there is no such entry.
    func status(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try parent.location(of: FilePath(bytes: name)).statusAtHand()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    func synchronizeParent() throws(FileError) {
        try calls(on: FilePath(bytes: parentPath)) { () throws(Errno) in
            try synchronizeDirectory(directory)
        }
    }
}

/// An item that was opened to be examined, as the rules of the search see it.
struct ReachedItem: SearchedItem {
    let file: OpenedFile
    let depth: Int
    private let bytes: [UInt8]
    private let name: [UInt8]?

    /// - Parameters:
    ///   - path: its absolute path, or with a name that of the directory it is in.
    ///   - depth: the number of levels below the root of the search.
    init(_ file: OpenedFile, path: [UInt8], name: [UInt8]? = nil, depth: Int) {
        self.file = file
        self.depth = depth
        bytes = path
        self.name = name
    }

    var path: FilePath { FilePath(bytes: pathBytes) }
    var pathBytes: [UInt8] { name.map { bytes + [UInt8(ascii: "/")] + $0 } ?? bytes }
    var pathForMessages: FilePath? { path }
    var nameBytes: [UInt8] { withName { Array($0) } }

    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let name { return name.withUnsafeBytes(body) }
        return bytes.withUnsafeBytes { bytes in
            guard depth > 0, let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
                return body(bytes)
            }
            return body(UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...]))
        }
    }

    /// Always true: reading them takes no more calls than finding out.
    func hasExtendedAttributes() -> Bool { true }

    /// Resolves to the open file, whatever has its name now.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        try file.descriptor.lookUp(body)
    }
}

extension OpenDirectory {
    /// Opens a directory in this one for reading, without following symbolic links or crossing
    /// mount points. Reading preserves its access time where permitted.
    func openToRead(_ name: FilePath) throws(Errno) -> OpenDirectory {
        OpenDirectory(
            try openBeneathPreservingAccessTime(
                name, in: descriptor, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
    }
}
