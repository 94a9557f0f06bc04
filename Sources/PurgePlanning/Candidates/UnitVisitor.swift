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
    private var links: [LinkedFile] = []
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
        let seen: Seen
        do throws(FileError) {
            seen = try look(at: entry, in: context)
        } catch {
            if error.code != .noSuchFile { cannotLook(at: entry, error, in: context) }
            return .skip
        }
        if context.unit != nil { return visitInside(entry, seen, in: context) }
        return visitAlone(entry, seen, in: context)
    }

    mutating func leave(_ context: PurgeContext) {
        guard context.isTopOfUnit, let ended = context.unit else { return }
        if unit === ended { change(to: nil) }
        if let totals = ended.end() { sink.add(ended.start, totals) }
    }

    mutating func cannotRead(_ error: FileError) {
        sink.note(unreadable: error.path?.bytes ?? [], .unreadable(error.errno ?? .ioError))
    }

    mutating func finish() {
        change(to: nil)
        preselection.finish()
        examined.finish()
    }

    private mutating func cannotLook(
        at entry: borrowing some SearchedItem & ~Copyable, _ error: FileError,
        in context: PurgeContext
    ) {
        let reason = KeepReason.unreadable(error.errno ?? .ioError)
        if context.unit != nil {
            portion.note(reason)
        } else {
            sink.note(pathBytes(of: entry), reason)
        }
    }

    // MARK: In a unit

    private mutating func visitInside(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        // A subvolume in which another search begins is no part of a unit around it.
        guard seen.status.identity.device == context.unit?.start.status.identity.device else {
            portion.note(.mountPoint)
            return .skip
        }
        let isMarked = context.isMarked || hasMarkThatCounts(seen, in: context)
        let reason = entry.withName { name in
            seen.listed == nil
                ? rules.reasonToKeep(
                    name, seen.status, seen.decision, isMarked: isMarked, in: context.place)
                    ?? rules.reasonToKeepInUnit(name, seen.status, in: context.place)
                    ?? rules.reasonToKeepTree(name, entry)
                : .listedForKeeping
        }
        if let reason {
            portion.note(reason)
            return .skip
        }
        // A unit that is kept is walked to its end for the sake of its reason, not for its size.
        if portion.keepReason == nil { count(entry, seen.status) }
        guard seen.status.kind == .directory else { return .skip }
        var below = context
        below.policy = seen.decision.contextForEntries
        below.keptPaths = seen.keptPaths
        below.isMarked = isMarked
        below.isTopOfUnit = false
        return .descend(below)
    }

    private mutating func count(
        _ entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus
    ) {
        let freed = rules.freedBytes(entry, status)
        let isLinked = status.kind != .directory && status.linkCount > 1
        portion.count(status, freeing: isLinked ? .none : freed)
        if isLinked {
            links.append(
                LinkedFile(
                    identity: status.identity, linkCount: status.linkCount, freed: freed))
        }
    }

    /// Adds what this thread saw of its unit to the unit, and enters another one.
    private mutating func change(to next: UnitTally?) {
        guard unit !== next else { return }
        if let unit, let totals = unit.leave(portion, links) { sink.add(unit.start, totals) }
        next?.enter()
        unit = next
        portion = UnitPortion()
        links.removeAll(keepingCapacity: true)
    }

    // MARK: Outside units

    private mutating func visitAlone(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        // Only the item's own mark counts: what is below a marked directory belongs to that unit.
        let isMarked = hasMarkThatCounts(seen, in: context)
        if seen.isMarked, context.heedsMarks, !isMarked {
            sink.note(pathBytes(of: entry), .untrustedMark)
        }
        let layout = layout(of: entry, seen, in: context)
        let purgeClass = rules.purgeClass(
            seen.status, isMarked: isMarked, isWhole: seen.isTagged || layout?.isIndexed == true,
            in: context.place)
        guard let purgeClass, let limit = rules.ageLimit(for: purgeClass, in: context.place)
        else {
            return descend(
                into: entry, seen, in: context, keepsSmallFiles: layout?.keepsSmallFiles == true)
        }
        if let reason = reasonToKeepAlone(entry, seen, in: context) {
            sink.note(pathBytes(of: entry), reason)
            // A directory on the way to a protected directory may contain units, and so may one
            // that tmpfiles.d keeps without its content.
            let mayHoldUnits = reason == .protectedRoot || seen.listed == .itself
            return mayHoldUnits ? descend(into: entry, seen, in: context, isNoted: true) : .skip
        }
        guard seen.status.kind == .directory else {
            let freed = rules.freedBytes(entry, seen.status)
            sink.add(
                file: entry, seen.status, purgeClass, freeing: freed, limit, &preselection)
            return .skip
        }
        return begin(entry, seen, purgeClass, limit, in: context)
    }

    /// Returns how the entries of a program's directory for caches belong together; nil for anything
    /// else.
    private func layout(
        of entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, in context: PurgeContext
    ) -> CacheLayout? {
        guard context.place == .caches(.top), seen.status.kind == .directory,
            rules.obstacle(seen.status, in: context.place) == nil,
            rules.places.locations[seen.status.identity] == nil
        else { return nil }
        return rules.layout(
            of: entry, named: entry.withLastName { Array($0) },
            at: pathBytes(of: entry) + [UInt8(ascii: "/")])
    }

    private func reasonToKeepAlone(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, in context: PurgeContext
    ) -> KeepReason? {
        if seen.listed != nil { return .listedForKeeping }
        if context.keepsSmallFiles, seen.status.kind == .regularFile,
            seen.status.size < SmallUnits.limit
        {
            return .notACache("it may be the index of what is kept beside it")
        }
        return entry.withLastName { name in
            rules.reasonToKeep(
                name, seen.status, seen.decision, isMarked: hasMarkThatCounts(seen, in: context),
                in: context.place)
                ?? rules.reasonToKeepAlone(name, seen.status, in: context.place)
                ?? rules.reasonToKeepTree(name, entry)
                ?? (seen.status.kind == .directory && !rules.seesAllProcesses
                    ? .unseenProcesses : nil)
        }
    }

    /// Starts a unit at a directory.
    private mutating func begin(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, _ purgeClass: PurgeClass,
        _ limit: AgeLimit,
        in context: PurgeContext
    ) -> Descent<PurgeContext> {
        let start = UnitStart(
            path: pathBytes(of: entry), purgeClass: purgeClass, status: seen.status,
            ageLimit: limit)
        let tally = UnitTally(start)
        change(to: tally)
        count(entry, seen.status)
        return .descend(
            PurgeContext(
                policy: seen.decision.contextForEntries, place: context.place, unit: tally,
                isTopOfUnit: true, keptPaths: seen.keptPaths, trustsMarks: context.trustsMarks,
                heedsMarks: context.heedsMarks, isMarked: hasMarkThatCounts(seen, in: context)))
    }

    private mutating func descend(
        into entry: borrowing some SearchedItem & ~Copyable, _ seen: Seen, in context: PurgeContext,
        isNoted: Bool = false, keepsSmallFiles: Bool = false
    ) -> Descent<PurgeContext> {
        guard seen.status.kind == .directory else { return .skip }
        let isRoot = entry.depth == 0
        let obstacle =
            obstacle(seen, in: context.place, isRoot: isRoot) ?? ownName(of: entry)
            ?? rules.reasonToKeepTree(inside: entry, in: context.place)
        if let obstacle {
            if !isNoted { sink.note(pathBytes(of: entry), obstacle) }
            return .skip
        }
        return entry.withLastName { name in
            let passesTrust =
                !UntrustedDirectories.contains(name)
                && (!seen.decision.isPurgeable || rules.isTrusted(seen.status))
            return .descend(
                PurgeContext(
                    policy: seen.decision.contextForEntries,
                    place: rules.place(inside: seen.status, named: name, of: context.place),
                    keptPaths: seen.keptPaths, trustsMarks: context.trustsMarks && passesTrust,
                    heedsMarks: context.heedsMarks || rules.isMarkRoot(seen.status),
                    keepsSmallFiles: keepsSmallFiles))
        }
    }

    private func ownName(of entry: borrowing some SearchedItem & ~Copyable) -> KeepReason? {
        entry.withLastName { AsideName.matches($0) } ? .putAside : nil
    }

    private func obstacle(
        _ seen: Seen, in place: PurgeContext.Place, isRoot: Bool
    ) -> KeepReason? {
        if seen.decision.purgeability.isProtected { return .protected(seen.decision.purgeability) }
        return seen.listed == .whole
            ? .listedForKeeping : rules.obstacle(seen.status, in: place, isRoot: isRoot)
    }
}

/// Reads what the rules must know of an item.
extension UnitVisitor {
    struct Seen {
        let status: FileStatus
        let decision: Decision
        /// Whether the item itself has a mark `isPurgeable=true`.
        let isMarked: Bool
        let isTagged: Bool
        /// What tmpfiles.d says about the item, and what it may say about items below.
        let listed: KeptPaths.Match?
        let keptPaths: KeptPaths.Position
    }

    func look(
        at entry: borrowing some SearchedItem & ~Copyable, in context: PurgeContext
    ) throws(FileError) -> Seen {
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
        return Seen(
            status: status, decision: decision,
            isMarked: found?.native.isPurgeable == true,
            isTagged: found?.foreign.excluding.contains(.cachedir) ?? false, listed: listed.0,
            keptPaths: listed.1)
    }

    /// Whether an `isPurgeable` mark counts: marks are heeded and trusted where the item lies, and
    /// only its owner can have set it.
    func hasMarkThatCounts(_ seen: Seen, in context: PurgeContext) -> Bool {
        seen.isMarked && context.heedsMarks && context.trustsMarks && rules.isTrusted(seen.status)
    }

    /// Returns the marks of an item; nil when it has none that are looked for.
    private func marks(
        of entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus,
        in context: PurgeContext
    ) throws(FileError) -> ItemMarks? {
        // The item mounted here is not inspected, and reading from it may block for ever.
        if entry.depth > 0, status.isMountRoot == true { return nil }
        if status.kind == .directory, context.unit == nil, case .caches = context.place {
            return try marksAndTags.marks(of: entry, kind: status.kind, status: status)
        }
        guard status.kind.canStoreUserAttributes, mayHaveMarks(entry) else { return nil }
        return try marks.marks(of: entry, kind: status.kind, status: status)
    }

    /// Whether reading marks is worthwhile: most items have no extended attributes at all.
    private func mayHaveMarks(_ entry: borrowing some SearchedItem & ~Copyable) -> Bool {
        do throws(Errno) {
            return try entry.hasExtendedAttributes()
        } catch {
            // Reading the marks reports the error.
            return true
        }
    }
}
