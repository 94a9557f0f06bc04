import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One thread's part of the search for units.
struct UnitVisitor: TreeVisitor {
    let rules: PurgeRules
    private let sink: UnitSink
    let marks = MarkReader([.native])
    let marksAndTags = MarkReader([.native, .cachedir])
    /// The unit this thread is in, and what it saw of the unit since entering it.
    private var unit: UnitTally?
    private var portion = UnitPortion()
    private var preselection: UnitPreselection
    private var examined: ItemCounter

    init(
        _ rules: PurgeRules, _ sink: UnitSink,
        didExamine: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.rules = rules
        self.sink = sink
        examined = ItemCounter(didExamine)
        preselection = sink.preselection()
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        examined.count()
        return decide(on: entry, in: context)
    }

    /// Applies the rules to an item.
    ///
    /// - Returns: whether to apply them to what is below it.
    mutating func decide(
        on entry: borrowing some SearchedItem & ~Copyable, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        change(to: context.unit)
        let seen: SeenItem
        do throws(FileError) {
            seen = try look(at: entry, in: context)
        } catch {
            if error.code == .noSuchFile { return .skip }
            let reason = KeepReason.unreadable(error.errno ?? .ioError)
            if context.unit != nil {
                portion.note(reason)
            } else {
                sink.note(entry.pathBytes, reason)
            }
            return .skip
        }
        if context.unit != nil { return visitInside(entry, seen, in: context) }
        return visitAlone(entry, seen, in: context)
    }

    mutating func leave(_ context: PurgeContext) {
        guard context.isTopOfUnit, let ended = context.unit else { return }
        if unit === ended { change(to: nil) }
        if let totals = ended.end() { sink.add(ended, totals) }
    }

    mutating func cannotRead(_ error: FileError) {
        sink.note(unreadable: error.path?.bytes ?? [], .unreadable(error.errno ?? .ioError))
    }

    mutating func finish() {
        change(to: nil)
        preselection.finish()
        examined.finish()
    }

    // MARK: In a unit

    private mutating func visitInside(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: SeenItem, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        let isMarked = context.isMarked || hasMarkThatCounts(seen, in: context)
        let reason = rules.reasonToKeep(
            entry, seen, in: context, isMarked: isMarked, at: .inUnit)
        if let reason {
            portion.note(reason)
            return .skip
        }
        // A unit that is kept is walked to its end for the sake of its reason, not for its size.
        if portion.keepReason == nil {
            portion.count(
                seen.status, freeing: rules.freed(entry, seen.status), asOf: rules.ages.now)
        }
        guard seen.status.kind == .directory else { return .skip }
        var below = context
        below.policy = seen.decision.contextForEntries
        below.keptPaths = seen.keptPaths
        below.isMarked = isMarked
        below.isFetched = entry.withName { rules.isFetched($0, seen.status, in: context) }
        below.isTopOfUnit = false
        return .descend(below)
    }

    /// Adds what this thread saw of its unit to the unit, and enters another one.
    private mutating func change(to next: UnitTally?) {
        guard unit !== next else { return }
        if let unit, let totals = unit.leave(portion) { sink.add(unit, totals) }
        next?.enter()
        unit = next
        portion = UnitPortion()
    }

    // MARK: Outside units

    private mutating func visitAlone(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: SeenItem, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        // Only the item's own mark counts: what is below a marked directory belongs to that unit.
        let isMarked = hasMarkThatCounts(seen, in: context)
        if seen.isMarked, context.heedsMarks, !isMarked {
            sink.note(entry.pathBytes, .untrustedMark)
        }
        // Also of one that is no unit itself.
        if seen.status.kind != .directory { sink.noteOwners(of: entry) }
        var seen = seen
        seen.layout = layout(of: entry, seen, in: context)
        let purgeClass = rules.purgeClass(
            of: entry, seen.status, isMarked: isMarked,
            isWhole: seen.isTagged || seen.layout?.isIndexed == true, in: context.area)
        guard let purgeClass,
            let limit = rules.ageLimit(for: purgeClass, seen.status, in: context)
        else { return descend(into: entry, seen, in: context) }
        let reason = rules.reasonToKeep(entry, seen, in: context, isMarked: isMarked, at: .alone)
        if let reason {
            sink.note(entry.pathBytes, reason)
            // A directory on the way to a protected directory may contain units, and so may one
            // that tmpfiles.d keeps without its content.
            let mayHoldUnits =
                reason == .protectedRoot || seen.listed != nil && seen.listed != .whole
            return mayHoldUnits ? descend(into: entry, seen, in: context, isNoted: true) : .skip
        }
        let freed = rules.freed(entry, seen.status)
        guard seen.status.kind == .directory else {
            sink.add(
                file: entry, seen.status, of: purgeClass, freeing: freed.amount, limit: limit,
                to: &preselection)
            return .skip
        }
        let tally = UnitTally(entry.pathBytes, purgeClass, seen.status, limit)
        change(to: tally)
        portion.count(seen.status, freeing: freed, asOf: rules.ages.now)
        var below = context
        below.policy = seen.decision.contextForEntries
        below.keptPaths = seen.keptPaths
        below.unit = tally
        below.isTopOfUnit = true
        below.isMarked = isMarked
        below.isFetched = entry.withLastName { rules.isFetched($0, seen.status, in: context) }
        return .descend(below)
    }

    /// Returns what the entries of a directory at the top of caches say; nil for anything else.
    private func layout(
        of entry: borrowing some SearchedItem & ~Copyable, _ seen: SeenItem,
        in context: PurgeContext
    ) -> CacheLayout? {
        let status = seen.status
        guard context.area == .caches(.top), status.kind == .directory,
            rules.mayEnter(entry, status), !rules.isProtectedRoot(status)
        else { return nil }
        return CacheLayout(
            of: entry, rules.notACache,
            isOfProgram: !rules.isElsewhere(status)
                && rules.locations.areas[status.identity] == nil)
    }

    private mutating func descend(
        into entry: borrowing some SearchedItem & ~Copyable, _ seen: SeenItem,
        in context: PurgeContext, isNoted: Bool = false
    ) -> Descent<PurgeContext> {
        guard seen.status.kind == .directory else { return .skip }
        if let reason = rules.reasonToKeep(entry, seen, in: context, at: .entering) {
            if !isNoted { sink.note(entry.pathBytes, reason) }
            return .skip
        }
        var listedAge: Int64 = 0
        if case .aged(let age) = seen.listed { listedAge = age }
        return entry.withLastName { name in
            let passesTrust =
                !UntrustedDirectories.contains(name)
                && (!seen.decision.isPurgeable || rules.isTrusted(seen.status))
            return .descend(
                PurgeContext(
                    policy: seen.decision.contextForEntries,
                    area: rules.area(inside: seen.status, named: name, of: context.area),
                    keptPaths: seen.keptPaths, keptAge: max(context.keptAge, listedAge),
                    trustsMarks: context.trustsMarks && passesTrust,
                    heedsMarks: context.heedsMarks || rules.isMarkRoot(seen.status),
                    keepsSmallFiles: seen.layout?.keepsSmallFiles == true))
        }
    }
}

/// What the rules must know of an item.
struct SeenItem {
    let status: FileStatus
    let decision: Decision
    /// Whether the item itself has a mark `isPurgeable=true`.
    let isMarked: Bool
    let isTagged: Bool
    /// What tmpfiles.d says about the item, and what it may say about items below.
    let listed: KeptPaths.Match?
    let keptPaths: KeptPaths.Position
    /// What the entries of a directory at the top of caches say; nil for anything else.
    var layout: CacheLayout?
}

extension UnitVisitor {
    func look(
        at entry: borrowing some SearchedItem & ~Copyable, in context: PurgeContext
    ) throws(FileError) -> SeenItem {
        let status: FileStatus
        do throws(Errno) {
            // The item may be a dead mount, which never answers.
            status = try entry.statusAtHand()
        } catch {
            throw FileError(error, of: entry.path)
        }
        let found = try marks(of: entry, status, in: context)
        let decision =
            found == nil && context.policy.isEmpty
            ? Decision.unmarked
            : rules.policy.decide(
                found?.native ?? .none, kind: status.kind, in: context.policy,
                name: entry.nameBytes, path: entry.path, linkCount: status.linkCount,
                isMountRoot: false)
        var listed: (KeptPaths.Match?, KeptPaths.Position) = (nil, context.keptPaths)
        // The context of a root already has the root's own position.
        if entry.depth > 0, !context.keptPaths.isEmpty {
            listed = rules.keptPaths.step(from: context.keptPaths, to: entry.nameBytes)
        }
        return SeenItem(
            status: status, decision: decision,
            isMarked: found?.native.isPurgeable == true,
            isTagged: found?.foreign.excluding.contains(.cachedir) ?? false, listed: listed.0,
            keptPaths: listed.1)
    }

    /// Whether an `isPurgeable` mark counts: marks are heeded and trusted where the item lies, and
    /// only its owner can have set it.
    func hasMarkThatCounts(_ seen: SeenItem, in context: PurgeContext) -> Bool {
        seen.isMarked && context.heedsMarks && context.trustsMarks && rules.isTrusted(seen.status)
    }

    /// Returns the marks of an item; nil when it has none that are looked for.
    private func marks(
        of entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus,
        in context: PurgeContext
    ) throws(FileError) -> ItemMarks? {
        // The item mounted here is not inspected, and reading from it may block for ever.
        if entry.depth > 0, status.isMountRoot == true { return nil }
        if status.kind == .directory, context.unit == nil, case .caches = context.area {
            return try marksAndTags.marks(of: entry, kind: status.kind, status: status)
        }
        // Most items have no extended attributes at all. Reading the marks reports an error.
        guard status.kind.canStoreUserAttributes, (try? entry.hasExtendedAttributes()) != false
        else { return nil }
        return try marks.marks(of: entry, kind: status.kind, status: status)
    }
}

/// The totals of a directory unit while its tree is walked.
///
/// The totals are complete when nothing below the directory is left to visit, and each visitor that
/// entered the unit has left it and added what it saw. The last of these calls returns them.
final class UnitTally: Sendable {
    private struct State {
        var portion = UnitPortion()
        var visitors = 0
        var isWalked = false

        var totals: UnitPortion? { isWalked && visitors == 0 ? portion : nil }
    }

    let path: [UInt8]
    let purgeClass: PurgeClass
    let status: FileStatus
    /// The age the unit must have.
    let ageLimit: AgeLimit
    private let state = Monitor(State())

    init(_ path: [UInt8], _ purgeClass: PurgeClass, _ status: FileStatus, _ ageLimit: AgeLimit) {
        self.path = path
        self.purgeClass = purgeClass
        self.status = status
        self.ageLimit = ageLimit
    }

    /// Records that a visitor meets items of the unit.
    func enter() { state.withLock { $0.visitors += 1 } }

    /// Adds what a visitor saw since it entered the unit, which it leaves.
    ///
    /// - Returns: the totals if they are complete.
    func leave(_ portion: UnitPortion) -> UnitPortion? {
        state.withLock { state in
            state.portion.add(portion)
            state.visitors -= 1
            return state.totals
        }
    }

    /// Records that nothing in the unit is left to visit.
    ///
    /// - Returns: the totals if they are complete.
    func end() -> UnitPortion? {
        state.withLock { state in
            state.isWalked = true
            return state.totals
        }
    }
}

/// What deleting an item frees for certain, and the extents that it shares with others: where the first
/// begins on the filesystem, and the bytes in all of them.
typealias FreedSpace = (amount: PurgeAmount, shared: (start: UInt64, bytes: Int64)?)

/// What was seen of a unit: all of it, or the part one thread walked.
struct UnitPortion: Sendable {
    /// Why the unit is kept; nil when no reason was found.
    var keepReason: KeepReason?
    /// The latest access, modification, change or birth time; change times of directories do not
    /// count.
    var lastUse = FileTime(seconds: .min, nanoseconds: 0)
    var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// How much deleting the items frees, without files of which not all hard links were met.
    private(set) var freed = PurgeAmount()
    /// Those files: how many of how many links were met, and what is freed with the last.
    private var linked: [FileIdentity: (met: Int, linkCount: Int, freed: FreedSpace)] = [:]
    /// What files share, by where their first shared extent begins, and whether several files in the unit
    /// begin there.
    private var sharedExtents: [UInt64: (bytes: Int64, isMetAgain: Bool)] = [:]
    private(set) var itemCount = 0

    /// The most files whose shared extents are compared.
    private static let mostSharedExtents = 65536

    /// Whether deleting the unit frees less than a mebibyte for certain, and may free more: files in it
    /// share extents with each other, which are freed, too, unless something outside shares them as well,
    /// such as a snapshot. Which of both it is the kernel does not tell.
    var mayFreeMore: Bool {
        guard freed.bytes < SmallUnits.limit else { return false }
        var bytes: Int64 = 0
        for extents in sharedExtents.values where extents.isMetAgain {
            bytes.addSaturating(extents.bytes)
        }
        return bytes >= SmallUnits.limit
    }

    /// Counts one item.
    ///
    /// - Parameters:
    ///   - freed: what removing its last hard link frees.
    ///   - now: when the search or the run began.
    mutating func count(_ status: FileStatus, freeing freed: FreedSpace, asOf now: FileTime) {
        itemCount += 1
        lastUse = max(lastUse, status.lastUse(asOf: now))
        newestChange = max(newestChange, status.attributeModificationTime)
        if status.kind != .directory, status.linkCount > 1 {
            add(1, linksOf: status.identity, outOf: status.linkCount, freeing: freed)
        } else {
            add(freed)
        }
    }

    private mutating func add(
        _ met: Int, linksOf file: FileIdentity, outOf linkCount: Int, freeing freed: FreedSpace
    ) {
        let met = met + (linked[file]?.met ?? 0)
        linked[file] = met < linkCount ? (met, linkCount, freed) : nil
        if met >= linkCount { add(freed) }
    }

    private mutating func add(_ other: FreedSpace) {
        freed.add(other.amount)
        if let shared = other.shared { compare(shared.start, shared.bytes) }
    }

    private mutating func compare(_ start: UInt64, _ bytes: Int64, isMetAgain: Bool = false) {
        if let known = sharedExtents[start] {
            sharedExtents[start] = (min(known.bytes, bytes), true)
        } else if sharedExtents.count < Self.mostSharedExtents {
            sharedExtents[start] = (bytes, isMetAgain)
        }
    }

    /// Notes a reason to keep the unit. Of several it is the first by name that counts, whatever the
    /// order in which threads find them.
    mutating func note(_ reason: KeepReason) {
        if let known = keepReason,
            (known.name, known.sentence) <= (reason.name, reason.sentence)
        {
            return
        }
        keepReason = reason
    }

    mutating func add(_ other: UnitPortion) {
        if let reason = other.keepReason { note(reason) }
        lastUse = max(lastUse, other.lastUse)
        newestChange = max(newestChange, other.newestChange)
        freed.add(other.freed)
        for (start, extents) in other.sharedExtents {
            compare(start, extents.bytes, isMetAgain: extents.isMetAgain)
        }
        for (file, links) in other.linked {
            add(links.met, linksOf: file, outOf: links.linkCount, freeing: links.freed)
        }
        itemCount += other.itemCount
    }
}

/// An item that the rules of the search are applied to: an entry of its walk, or one that is
/// examined again before it is deleted.
protocol SearchedItem: FileLocation, ~Copyable {
    /// The number of levels below the root of the search.
    var depth: Int { get }
    var path: FilePath { get }
    var pathBytes: [UInt8] { get }
    /// The name's bytes; for a root, the whole path.
    var nameBytes: [UInt8] { get }

    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result

    /// Returns the status without waiting for a server or a FUSE program.
    func statusAtHand() throws(Errno) -> FileStatus

    /// Whether the item may have extended attributes.
    func hasExtendedAttributes() throws(Errno) -> Bool
}

extension TreeEntry: SearchedItem {}

extension SearchedItem where Self: ~Copyable {
    /// Calls `body` with the name; for a root, with the last component of its path.
    func withLastName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withName { name in
            guard depth == 0, let slash = name.lastIndex(of: UInt8(ascii: "/"))
            else { return body(name) }
            return body(UnsafeRawBufferPointer(rebasing: name[(slash + 1)...]))
        }
    }
}
