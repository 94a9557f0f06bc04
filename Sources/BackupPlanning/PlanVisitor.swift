import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// The visitor of one thread that builds its part of a plan.
struct PlanVisitor: TreeVisitor {
    private let rules: PlanRules
    private var observer: any PlanObserver
    /// Whether stored items are passed on one by one; else they are only counted.
    private let notesStoredItems: Bool
    private let empty: BackupPlan
    private let whole: Monitor<BackupPlan>
    private var part: BackupPlan
    private var examined: ItemCounter
    /// The number of the source of the entry that is visited.
    private var sourceNumber: UInt16 = 0

    /// - Parameters:
    ///   - empty: a plan of nothing, with all that is requested of it.
    ///   - whole: the plan to add the thread's part to.
    init(
        _ rules: PlanRules, _ observer: any PlanObserver, _ empty: BackupPlan,
        addingTo whole: Monitor<BackupPlan>, _ didExamine: @escaping @Sendable (Int) -> Void
    ) {
        examined = ItemCounter(didExamine)
        self.rules = rules
        self.observer = observer
        notesStoredItems =
            empty.manifest != nil || empty.names != nil || observer.wantsStoredItems
        self.empty = empty
        self.whole = whole
        part = empty
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in context: PlanContext
    ) -> Descent<PlanContext> {
        examined.count()
        sourceNumber = context.sourceNumber
        let item: ExaminedItem
        do throws(FileError) {
            switch try rules.examine(entry, in: context) {
            case .plain(let status):
                if notesStoredItems {
                    note(entry, status, .stored(.unmarked))
                } else {
                    part.totals(of: Int(sourceNumber)) {
                        $0.count(status, isExcluded: false, isStored: true)
                    }
                }
                return .skip
            case .item(let examined): item = examined
            }
        } catch {
            // An entry that cannot be read is left to the engine; one that was removed since its
            // directory was read is not reported.
            if error.code != .noSuchFile { cannotRead(error) }
            return .skip
        }
        let (status, decision, reason) = (item.status, item.decision, item.reason)
        if reason == .ownState {
            part.ownState.append(
                ExcludedItem(path: entry.path, isDirectory: true, reason: .ownState))
            return .skip
        }
        if !decision.issues.isEmpty { report(decision.issues, of: entry.path) }
        if let own = decision.protection.ownClass {
            part.protectedItems.append(ProtectedItem(path: entry.path, protectionClass: own))
        }
        // The entry of an excluded directory is stored nevertheless.
        if reason == nil || status.kind == .directory,
            item.mayHaveAttributes, !rules.isRemoteMount(entry, status, in: context)
        {
            noteAttributeNames(of: entry)
        }
        if let reason {
            note(entry, status, .excluded(reason))
            if let kept = reason.keptFile { noteKept(kept, in: entry, decision.contextForEntries) }
            return .skip
        }
        if let sign = item.sign {
            part.notices.append(PlanNotice(path: entry.path, matter: .eviction(sign, status)))
        }
        note(entry, status, .stored(decision.exclusion))
        guard status.kind == .directory else { return .skip }
        return .descend(
            PlanContext(
                policy: decision.contextForEntries, device: status.identity.device,
                sourceNumber: sourceNumber))
    }

    mutating func cannotRead(_ error: FileError) {
        let path = error.path ?? "/"
        part.notices.append(PlanNotice(path: path, matter: .unreadable(error)))
        guard error.code == .locked else { return }
        part.exclusions.append(ExcludedItem(path: path, isDirectory: true, reason: .locked))
        part.totals(of: Int(sourceNumber)) { $0.excludedItems += 1 }
    }

    mutating func finish() {
        examined.finish()
        observer.finish()
        addPart()
    }

    private mutating func addPart() {
        whole.withLock { $0.add(part) }
        part = empty
    }

    /// Reports an item with an extended attribute that restic cannot store as it is. Where the names
    /// cannot be listed, restic complains itself.
    private mutating func noteAttributeNames(of entry: borrowing TreeEntry) {
        guard let names = try? entry.extendedAttributeNames(),
            names.contains(where: { String(validating: $0.bytes, as: UTF8.self) == nil })
        else { return }
        part.notices.append(PlanNotice(path: entry.path, matter: .attributeName))
    }

    private mutating func report(_ issues: [PolicyIssue], of path: FilePath) {
        part.notices += issues.map { PlanNotice(path: path, matter: .issue($0)) }
    }

    /// Records the tag file that is stored although the other contents of its directory are excluded.
    private mutating func noteKept(
        _ file: TagFile, in directory: borrowing TreeEntry, _ context: PolicyContext
    ) {
        var path: [UInt8] = []
        directory.appendPath(to: &path)
        path += [UInt8(ascii: "/")] + file.name.bytes
        let (status, marks): (FileStatus, ItemMarks)
        do throws(FileError) {
            (status, marks) = try file.look(in: directory, rules.markReader)
        } catch {
            // The tag file was removed since; the directory stays excluded for the reason found.
            return
        }
        let decision = rules.decide(file, at: FilePath(bytes: path), marks, status, in: context)
        if !decision.issues.isEmpty { report(decision.issues, of: FilePath(bytes: path)) }
        let disposition =
            rules.protection(status.kind, decision).map { Disposition.excluded($0) }
            ?? .stored(.unmarked)
        note(path, status, disposition, isStored: count(status, disposition))
    }

    private mutating func note(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ disposition: Disposition
    ) {
        let isStored = count(status, disposition)
        guard notesStoredItems || disposition.isExcluded else { return }
        var path: [UInt8] = []
        entry.appendPath(to: &path)
        note(path, status, disposition, isStored: isStored)
    }

    /// - Returns: whether its entry is stored, which is true of most directories whose contents are
    ///   excluded.
    private mutating func count(_ status: FileStatus, _ disposition: Disposition) -> Bool {
        var (isExcluded, isStored) = (false, true)
        if case .excluded(let reason) = disposition {
            (isExcluded, isStored) = (true, status.kind == .directory && !reason.excludesEntry)
        }
        part.totals(of: Int(sourceNumber)) {
            $0.count(status, isExcluded: isExcluded, isStored: isStored)
        }
        return isStored
    }

    // Swift 6.3.1 fails to inline this.
    @inline(never)
    private mutating func note(
        _ path: [UInt8], _ status: FileStatus, _ disposition: Disposition, isStored: Bool
    ) {
        if isStored {
            // A mount point that is not entered need not be readable.
            if !disposition.isMount {
                part.manifest?.append(
                    path, PlanManifest.Entry(path, status, source: sourceNumber))
            }
            part.appendName(of: path, isDirectory: status.kind == .directory)
        }
        if part.manifest?.isLarge == true { addPart() }
        if case .excluded(let reason) = disposition {
            part.exclusions.append(
                ExcludedItem(
                    path: FilePath(bytes: path), isDirectory: status.kind == .directory,
                    reason: reason))
        }
        guard disposition.isExcluded || observer.wantsStoredItems else { return }
        observer.note(PlannedItem(path: path, status: status, disposition: disposition))
    }
}

extension Disposition {
    fileprivate var isExcluded: Bool {
        guard case .excluded = self else { return false }
        return true
    }

    fileprivate var isMount: Bool {
        switch self {
        case .excluded(.mount), .excluded(.removable): true
        default: false
        }
    }
}

/// What a backup will do with one item.
public enum Disposition: Sendable, Hashable {
    /// Stored, for the reason the policy gives: nearly always that nothing excludes it.
    case stored(Exclusion)
    /// Excluded. A directory's own entry is stored, with its attributes; its contents are excluded. The
    /// mount points of networks and FUSE are excluded as a whole.
    case excluded(ExclusionReason)
}

/// One item of a plan that is being built.
public struct PlannedItem: ~Copyable {
    /// The absolute path's bytes.
    public let path: [UInt8]
    /// The status; of a directory the cached one.
    package let status: FileStatus
    /// What will be done with it.
    public let disposition: Disposition

    /// The kind of file.
    public var kind: FileKind { status.kind }
    /// The size in bytes; 0 unless it is a regular file.
    public var size: Int64 { kind == .regularFile ? status.size : 0 }
}

/// Receives each item while a plan is built.
///
/// Each planning thread has its own observer, used and finished on that thread.
public protocol PlanObserver: SendableMetatype {
    /// Whether stored items are wanted; a plan is built faster when they are not. Asked before the first
    /// item.
    var wantsStoredItems: Bool { get }

    /// Called for each item, in no particular order.
    mutating func note(_ item: borrowing PlannedItem)

    /// Called once, after the thread's last item.
    mutating func finish()
}

struct NoPlanObserver: PlanObserver {
    var wantsStoredItems: Bool { false }
    func note(_ item: borrowing PlannedItem) {}
    func finish() {}
}

/// What a directory passes to its entries while a plan is built. It is small, because it is copied
/// for every entry.
package struct PlanContext: Sendable {
    package let policy: PolicyContext
    /// The device number of the directory; nil above a source.
    package let device: UInt64?
    /// The source to visit; nil everywhere below.
    let source: PlanSource?
    /// The number of the source that the walk came from.
    let sourceNumber: UInt16

    package init(source: EffectiveItem, number: UInt16 = 0) {
        policy = .empty
        device = nil
        sourceNumber = number
        self.source = PlanSource(source)
    }

    package init(policy: PolicyContext, device: UInt64, sourceNumber: UInt16 = 0) {
        self.policy = policy
        self.device = device
        self.sourceNumber = sourceNumber
        source = nil
    }
}

/// The decision on a source, as an object that a context can refer to.
final class PlanSource: Sendable {
    let decision: Decision

    init(_ item: EffectiveItem) {
        decision = item.decision
    }
}
