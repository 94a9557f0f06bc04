import EffectiveValues
import FileTree
import StoragePolicy
import SystemCalls
import SystemPackage

/// An examination of single units by the search's own visitor, from `/` down, on open descriptors.
struct UnitExaminer {
    private let search: UnitSearch
    private let rules: PurgeRules
    private let patience: Patience
    private let processes: RunningProcesses

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
    /// - Throws: the reason why it is kept.
    func examine(
        _ path: [UInt8], named standIn: [UInt8]? = nil
    ) throws(KeepReason) -> Examination {
        let notes = Monitor<KeepReason?>(nil)
        let found = FirstUnits(wantedBytes: .max)
        let sink = UnitSink(found, Doubts(), rules.mountsElsewhere) { _, reason in
            notes.withLock { $0 = reason }
        }
        do throws(KeepReason) {
            let looked = try look(at: path, named: standIn, sink)
            guard let unit = found.found().units.first else {
                throw notes.withLock { $0 } ?? .changed
            }
            try requireOwn(unit, looked)
            return Examination(
                unit: unit, place: looked.place, held: looked.held, contents: looked.contents)
        } catch {
            // The reason given by the rules is more specific than that the walk stopped.
            if error == .changed, let reason = notes.withLock({ $0 }) { throw reason }
            throw error
        }
    }

    /// Throws `processInside` when a process is in the unit, `mountedElsewhere` when it is mounted
    /// elsewhere.
    ///
    /// - Parameter path: the path the unit has now.
    func requireUnused(_ unit: Examination, named path: [UInt8]) throws(KeepReason) {
        try patience.retry(while: \.mayPass) { () throws(KeepReason) in
            try processes.requireOutside(unit, named: path)
        }
    }

    private struct Looked {
        let place: UnitPlace
        var held: HeldFile?
        var contents = UnitContents()
        var owner: UInt32 = 0
    }

    // MARK: Path

    private func look(
        at path: [UInt8], named standIn: [UInt8]?, _ sink: UnitSink
    ) throws(KeepReason) -> Looked {
        var visitor = UnitVisitor(rules, sink)
        let (place, start) = try reach(path, &visitor, sink)
        var looked = Looked(place: place)
        try look(at: FilePath(bytes: standIn ?? place.name), from: start, &looked, &visitor)
        visitor.finish()
        return looked
    }

    /// What the search knows when it reaches an item.
    private struct Start {
        var context: PurgeContext
        /// The number of levels below the search root.
        var depth: Int
        /// The device and inode that the search root must have.
        let root: FileIdentity
    }

    /// Descends from `/`; from the search root on by the rules of the search.
    private func reach(
        _ path: [UInt8], _ visitor: inout UnitVisitor, _ sink: UnitSink
    ) throws(KeepReason) -> (UnitPlace, Start) {
        guard let names = RelativePath(absolute: path)?.names else { throw .outsideRoots }
        let (root, rootIdentity) = try startingPoint(above: FilePath(bytes: path), sink)
        let rootDepth = root.path.components.count
        var start = Start(
            context: root.context, depth: names.count - rootDepth, root: rootIdentity)
        var directory = SharedDescriptor(
            try reaching { () throws(Errno) in try openDirectoryReference("/") })
        var reached: [UInt8] = []
        var above: FileStatus?
        for depth in 0..<names.count {
            let status = try reaching { [directory] () throws(Errno) in
                try directory.descriptor.status()
            }
            if let above, depth <= rootDepth { try requireSafeStep(from: above, to: status) }
            above = status
            if rules.places.protectedRoots.contains(status.identity) { throw .protectedRoot }
            if depth == rootDepth, status.identity != rootIdentity { throw .changed }
            if depth >= rootDepth {
                try requireUnlockedDirectory(directory.descriptor)
                let name = depth == rootDepth ? root.path.bytes : names[depth - 1]
                start.context = try descend(
                    into: directory.descriptor, status, name, below: reached,
                    depth: depth - rootDepth, in: start.context, &visitor)
            }
            if depth > 0 {
                reached.append(UInt8(ascii: "/"))
                reached += names[depth - 1]
            }
            guard depth < names.count - 1 else {
                let place = UnitPlace(
                    name: names[depth], parentPath: reached, parent: directory,
                    parentStatus: status)
                return (place, start)
            }
            directory = try open(
                names[depth], in: directory.descriptor, staysOnMount: depth >= rootDepth)
        }
        throw .outsideRoots
    }

    /// Throws `unsafePath` when a step above the search root leads where another user decides.
    private func requireSafeStep(
        from directory: FileStatus, to item: FileStatus
    ) throws(KeepReason) {
        do throws(UnsafeStep) {
            try UnsafeStep.check(from: directory, to: item)
        } catch {
            throw .unsafePath
        }
    }

    private func open(
        _ name: [UInt8], in directory: FileDescriptor, staysOnMount: Bool
    ) throws(KeepReason) -> SharedDescriptor {
        let flags: FileDescriptor.OpenOptions = [.reference, .directory, .noFollow]
        let name = FilePath(bytes: name)
        return SharedDescriptor(
            try reaching { () throws(Errno) in
                staysOnMount
                    ? try openBeneath(name, in: directory, flags: flags)
                    : try openFile(in: directory, name, flags: flags)
            })
    }

    private func startingPoint(
        above path: FilePath, _ sink: UnitSink
    ) throws(KeepReason) -> (TreeRoot<PurgeContext>, FileIdentity) {
        do {
            let roots = try search.startingPoints(rules, sink)
            guard let root = roots.first(where: { path.isHeld(by: $0.path) }) else {
                throw KeepReason.outsideRoots
            }
            return (root, try root.path.withoutFollowing.status().identity)
        } catch let reason as KeepReason {
            throw reason
        } catch let error as FileError {
            throw KeepReason(reaching: error)
        } catch {
            throw .unreadable(error as? Errno ?? .ioError)
        }
    }

    private func descend(
        into directory: FileDescriptor, _ status: FileStatus, _ name: [UInt8],
        below path: [UInt8], depth: Int, in context: PurgeContext, _ visitor: inout UnitVisitor
    ) throws(KeepReason) -> PurgeContext {
        let descent = visit(
            directory, status, name, in: path, depth: depth, context, &visitor)
        // The reason was recorded.
        guard case .descend(let below) = descent else { throw .changed }
        guard below.unit == nil else { throw .partOfUnit }
        return below
    }

    private func visit(
        _ file: FileDescriptor, _ status: FileStatus, _ name: [UInt8], in path: [UInt8],
        depth: Int, _ context: PurgeContext, _ visitor: inout UnitVisitor
    ) -> Descent<PurgeContext> {
        var descent = Descent<PurgeContext>.skip
        do throws(Errno) {
            try file.lookUp { target throws(Errno) in
                descent = TreeEntry.make(
                    at: target, named: name, in: path, kind: status.kind,
                    inode: status.identity.inode, depth: depth
                ) { entry in visitor.visit(entry, in: context) }
            }
        } catch {
            // Not reached: a descriptor needs no lookup.
            return .skip
        }
        return descent
    }

    private func requireUnlockedDirectory(_ directory: FileDescriptor) throws(KeepReason) {
        let opened: SharedDescriptor
        do throws(Errno) {
            opened = SharedDescriptor(try openDirectoryToRead(".", in: directory))
        } catch {
            throw .untestable(error)
        }
        try requireUnlocked(opened.descriptor, patience)
    }

    // MARK: The unit

    private func look(
        at name: FilePath, from start: Start, _ looked: inout Looked,
        _ visitor: inout UnitVisitor
    ) throws(KeepReason) {
        let place = looked.place
        let location = DirectoryEntryLocation(directory: place.directory, name: name)
        let status = try reaching { () throws(Errno) in try location.statusAtHand() }
        let opened = try hold(name, status, &looked)
        // The name may have been replaced: what is open is checked.
        let now = try reaching { () throws(Errno) in try opened.descriptor.status() }
        guard now.identity == status.identity, now.kind == status.kind else { throw .changed }
        if start.depth == 0 {
            guard now.identity == start.root else { throw .changed }
            try requireSafeStep(from: place.parentStatus, to: now)
        }
        if status.isMountRoot == true { throw .mountPoint }
        looked.owner = now.owner
        let path = place.parentPath + [UInt8(ascii: "/")] + place.name
        // The visitor expects the whole path as the name of a search root.
        let descent = visit(
            opened.descriptor, now, start.depth > 0 ? place.name : path, in: place.parentPath,
            depth: start.depth, start.context, &visitor)
        guard now.kind == .directory else { return }
        guard case .descend(let below) = descent, below.unit != nil else { throw .changed }
        looked.contents = UnitContents(of: now.identity)
        var checking = CheckingVisitor(visitor, looked.contents, patience)
        defer {
            visitor = checking.rules
            looked.contents = checking.contents
        }
        try DepthFirstWalk.visit(opened.descriptor, path: path, context: below, &checking)
    }

    private func hold(
        _ name: FilePath, _ status: FileStatus, _ looked: inout Looked
    ) throws(KeepReason) -> OpenedOrHeld {
        switch status.kind {
        case .regularFile:
            let held = try HeldFile(name, in: looked.place.directory, status, patience)
            looked.held = held
            return .held(held)
        case .directory:
            let opened: SharedDescriptor
            do throws(Errno) {
                opened = SharedDescriptor(try openDirectoryToRead(name, in: looked.place.directory))
            } catch {
                throw KeepReason(reaching: error)
            }
            try requireUnlocked(opened.descriptor, patience)
            return .opened(opened)
        default:
            let directory = looked.place.directory
            return .opened(
                SharedDescriptor(
                    try reaching { () throws(Errno) in
                        try openFile(in: directory, name, flags: [.reference, .noFollow])
                    }))
        }
    }

    private enum OpenedOrHeld {
        case opened(SharedDescriptor)
        case held(HeldFile)

        var descriptor: FileDescriptor {
            switch self {
            case .opened(let file): file.descriptor
            case .held(let file): file.descriptor
            }
        }
    }

    /// Throws `foreignOwner` for an item of another user in a directory that others can write,
    /// where they could replace it. In a sticky directory only the owner can, so there other owners
    /// are allowed when the search includes them.
    private func requireOwn(_ unit: PurgeUnit, _ looked: Looked) throws(KeepReason) {
        let permissions = looked.place.parentStatus.permissions
        let isSticky = permissions & 0o1000 != 0
        guard permissions & 0o022 != 0 || isSticky else { return }
        if looked.owner == rules.user { return }
        guard isSticky, rules.includesForeign else { throw .foreignOwner }
    }
}
