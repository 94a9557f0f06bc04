import BackupPlanning
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// The visitor of one thread that measures usage.
struct UsageVisitor: TreeVisitor {
    private let meter: UsageMeter
    private let rules: PlanRules
    private let repeated: RepeatedMounts
    private let state: Monitor<UsageState>
    private var observer: (any UsageObserver)?
    private var examined: ItemCounter
    /// The sums of the entries since the last change of directory.
    private var current: (directory: UInt32, tally: UsageTally) = (0, UsageTally())
    private var amounts = UsageClassAmounts()
    private var classes: [UsageClass: UsageClassEntry] = [:]
    private var filesystems: [UInt64: UInt64?] = [:]
    private var verdicts = ProtectionVerdicts()
    private var extents: [ExtentReference] = []
    private var cloneSize: Int64 = 0
    private var mayHaveClones = false
    /// Directories that were read to their end.
    private var finished: [UInt32] = []

    init(
        _ meter: UsageMeter, rules: PlanRules, _ repeated: RepeatedMounts,
        state: Monitor<UsageState>, observer: (any UsageObserver)?
    ) {
        self.repeated = repeated
        self.meter = meter
        examined = ItemCounter(meter.planner.didExamine)
        self.rules = rules
        self.state = state
        self.observer = observer
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in scope: UsageScope
    ) -> Descent<UsageScope> {
        examined.count()
        let item: ExaminedItem
        do throws(FileError) {
            let examination = try rules.examine(entry, in: scope.plan)
            if case .plain(let status) = examination, let plain = scope.plainClass,
                status.isEncrypted == scope.isEncrypted
            {
                if !isElsewhere(status, in: scope), !isCounted(entry, status) {
                    add(
                        entry, status, plain, to: scope.directory, on: scope.sharingFilesystem)
                }
                return .skip
            }
            item = examination.item
        } catch {
            if error.code != .noSuchFile { cannotRead(error) }
            return .skip
        }
        if isElsewhere(item.status, in: scope) || item.reason == .ownState { return .skip }
        if item.status.kind != .directory, isCounted(entry, item.status) { return .skip }
        if item.status.kind == .directory || entry.depth == 0 {
            return visit(directory: entry, item, in: scope)
        }
        let entryClass = classEntry(of: item, in: scope)
        add(entry, item.status, entryClass, to: scope.directory, on: scope.sharingFilesystem)
        return .skip
    }

    /// Whether an item is on a filesystem that is left out.
    private func isElsewhere(_ status: FileStatus, in scope: UsageScope) -> Bool {
        guard meter.staysOnFilesystem, let device = scope.plan.device else { return false }
        return status.identity.device != device
    }

    /// Whether an item is a mount point that shows what is counted elsewhere.
    private func isCounted(_ entry: borrowing TreeEntry, _ status: FileStatus) -> Bool {
        entry.depth > 0 && repeated.isRepeated(status)
    }

    mutating func leave(_ scope: UsageScope) {
        finished.append(scope.directory)
        if finished.count == 256 { noteFinished() }
    }

    mutating func cannotRead(_ error: FileError) {
        state.withLock { $0.problems.append(error) }
    }

    mutating func finish() {
        examined.finish()
        flush()
        noteFinished()
        observer?.finish()
        state.withLock { state in
            state.amounts.add(amounts)
            state.extents += extents
            state.cloneSize.addSaturating(cloneSize)
            if mayHaveClones, !meter.countsSharedExtentsOnce { state.countsClonesInFull = true }
        }
    }

    // MARK: Directories

    /// Adds a directory, or a root of another kind.
    private mutating func visit(
        directory entry: borrowing TreeEntry, _ item: ExaminedItem, in scope: UsageScope
    ) -> Descent<UsageScope> {
        let isRoot = entry.depth == 0
        let position =
            isRoot ? scope.position : scope.position.entry(named: entry.nameBytes)
        if isCounted(entry, item.status)
            || rules.foreignMount(entry, item.status, in: scope.plan) != nil
        {
            _ = addRecord(entry, to: scope.directory, .foreignMount)
            return .skip
        }
        let exclusion = scope.exclusion ?? item.reason
        let ownClass = self.entry(
            scope.ownExclusion(of: item), item.decision, item.status,
            in: isRoot ? position : scope.position, at: position)
        let filesystem =
            item.status.identity.device == scope.plan.device
            ? scope.sharingFilesystem : sharingFilesystem(of: entry, item.status)
        guard item.status.kind == .directory else {
            let number = addRecord(entry, to: scope.directory, .file)
            add(entry, item.status, ownClass, to: number, on: filesystem)
            return .skip
        }
        if filesystem != nil { mayHaveClones = true }
        var own = UsageTally()
        let amount = UsageAmount(allocated: item.status.allocatedSize)
        own.add(amount, ownClass)
        amounts.add(amount, ownClass)
        let plan = PlanContext(
            policy: item.decision.contextForEntries, device: item.status.identity.device)
        let plain = rules.planner.policy.decide(
            .none, kind: .regularFile, in: plan.policy, name: [], path: "/", linkCount: 1,
            isMountRoot: false)
        let plainClass = self.entry(
            exclusion ?? (plain.isExcluded ? .excluded(plain.exclusion) : nil), plain, item.status,
            in: position, at: position)
        let number = addRecord(
            entry, to: scope.directory, .unread,
            entryClass: UInt16(clamping: plainClass.number), own)
        observer?.note(directory: entry, item.status, number: number)
        if !isRoot, repeated.isBorrowed(item.status) {
            state.withLock { $0.tree[number].isBorrowed = true }
        }
        return .descend(
            UsageScope(
                plan: plan, directory: number, exclusion: exclusion, plainClass: plainClass,
                excludesPlainEntries: plain.isExcluded, isEncrypted: item.status.isEncrypted,
                position: position, sharingFilesystem: filesystem))
    }

    private mutating func addRecord(
        _ entry: borrowing TreeEntry, to parent: UInt32, _ fileState: UsageTree.State,
        entryClass: UInt16 = .max, _ tally: UsageTally = UsageTally()
    ) -> UInt32 {
        let isCurrent = current.directory == parent
        let pending = current.tally
        if isCurrent { current.tally = UsageTally() }
        return entry.withName { name in
            state.withLock { state in
                if isCurrent { state.tree[parent].tally.add(pending) }
                return state.tree.add(
                    name, to: parent, state: fileState, entryClass: entryClass, tally)
            }
        }
    }

    /// Returns the filesystem's device if its files can share extents.
    private mutating func sharingFilesystem(
        of entry: borrowing TreeEntry, _ status: FileStatus
    ) -> UInt64? {
        if let known = filesystems[status.identity.device] { return known }
        // A subvolume has a device number of its own; that of the mount is the filesystem's.
        let mount = meter.planner.mounts.mount(holding: entry.path)
        let canShare = mount.map { ["btrfs", "xfs"].contains($0.filesystemType) } ?? false
        let filesystem = canShare ? mount?.device : nil
        filesystems[status.identity.device] = .some(filesystem)
        return filesystem
    }

    private mutating func noteFinished() {
        let numbers = finished
        finished.removeAll(keepingCapacity: true)
        state.withLock { state in
            for number in numbers { state.tree[number].state = .read }
        }
    }

    // MARK: Other items

    private mutating func add(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ entryClass: UsageClassEntry,
        to directory: UInt32, on filesystem: UInt64?
    ) {
        observer?.note(file: entry, status, entryClass.value, in: directory)
        let isRegular = status.kind == .regularFile
        var amount = UsageAmount(
            apparent: isRegular ? status.size : 0, allocated: status.allocatedSize)
        if status.linkCount > 1 {
            let first = state.withLock { state in
                state.links.add(status, amount, entryClass, in: directory, of: state.tree)
            }
            guard let first, isRegular else { return }
            let shared = sharedBytes(of: entry, status, filesystem, .linkedFile(first))
            guard shared > 0 else { return }
            state.withLock { $0.links.setSharedBytes(shared, ofFile: first) }
            return
        }
        if isRegular, filesystem != nil {
            let shared = sharedBytes(
                of: entry, status, filesystem, .directory(directory, entryClass))
            amount.allocated -= min(shared, amount.allocated)
        }
        if current.directory != directory {
            flush()
            current.directory = directory
        }
        current.tally.add(amount, entryClass)
        if entry.depth > 0, repeated.isBorrowed(status) {
            current.tally.notFreed.addSaturating(amount.allocated)
        }
        if isRegular { current.tally.fileCount += 1 }
        amounts.add(amount, entryClass)
    }

    /// Records a file's shared extents, and returns how many bytes they have.
    private mutating func sharedBytes(
        of entry: borrowing TreeEntry, _ status: FileStatus, _ filesystem: UInt64?,
        _ owner: ExtentReference.Owner
    ) -> Int64 {
        guard meter.countsSharedExtentsOnce, let filesystem, status.allocatedSize > 0 else {
            return 0
        }
        do throws(Errno) {
            guard let shared = try sharedExtents(of: entry), !shared.isEmpty else { return 0 }
            extents += shared.map { ExtentReference($0, on: filesystem, of: owner) }
            cloneSize.addSaturating(status.size)
            return shared.reduce(0) { $0.addingSaturating(Int64(clamping: $1.length)) }
        } catch {
            if error != .noSuchFileOrDirectory { cannotRead(.opening(error, entry.path)) }
            return 0
        }
    }

    private mutating func flush() {
        let (directory, tally) = current
        current.tally = UsageTally()
        state.withLock { $0.tree[directory].tally.add(tally) }
    }

    // MARK: Classes

    /// Returns the class of an item other than a directory.
    @inline(__always)
    private mutating func classEntry(
        of item: ExaminedItem, in scope: UsageScope
    ) -> UsageClassEntry {
        if !item.hasMarks, let plain = scope.plainClass,
            item.decision.isExcluded == scope.excludesPlainEntries,
            item.status.isEncrypted == scope.isEncrypted
        {
            if scope.exclusion != nil || item.reason == nil { return plain }
            if case .excluded = item.reason { return plain }
        }
        return entry(
            scope.exclusion(of: item), item.decision, item.status, in: scope.position,
            at: scope.position)
    }

    /// Returns the class of an item at a position in a directory at another one.
    private mutating func entry(
        _ exclusion: ExclusionReason?, _ decision: Decision, _ status: FileStatus,
        in directory: LocationPosition, at position: LocationPosition
    ) -> UsageClassEntry {
        let protection = decision.protectionClass
        return entry(
            for: UsageClass(
                exclusion: exclusion.map(UsageExclusion.init),
                purging: directory.purging(decision), protection: protection,
                verdict: verdicts.verdict(on: protection, of: status), location: position.kind))
    }

    private mutating func entry(for value: UsageClass) -> UsageClassEntry {
        if let known = classes[value] { return known }
        let entry = state.withLock { $0.classes.entry(for: value) }
        classes[value] = entry
        return entry
    }
}
