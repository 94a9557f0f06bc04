import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One thread's part in the search for units.
struct UnitVisitor: TreeVisitor {
    private let rules: PurgeRules
    private let sink: UnitSink
    private let marks = MarkReader([.native])
    private let marksAndTags = MarkReader([.native, .cachedir])
    /// The unit this thread is in, and what it saw of it since it came there.
    private var unit: UnitTally?
    private var portion = UnitPortion()
    private var links: [LinkedFile] = []

    init(_ rules: PurgeRules, _ sink: UnitSink) {
        self.rules = rules
        self.sink = sink
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        if let unit = context.unit { change(to: unit) }
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

    /// A directory that cannot be read keeps the unit it is in: the search comes to that when it
    /// looks at the chosen units again.
    mutating func cannotRead(_ error: FileError) {
        sink.note(error.path?.bytes ?? [], .unreadable(error.errno ?? .ioError))
    }

    mutating func finish() { change(to: nil) }

    // MARK: What is stored

    private struct Seen {
        let status: FileStatus
        let decision: Decision
        /// Whether the item itself has a mark that says it may go.
        let isMarked: Bool
        let isTagged: Bool
    }

    private func look(
        at entry: borrowing TreeEntry, in context: PurgeContext
    ) throws(FileError) -> Seen {
        let status: FileStatus
        do throws(Errno) {
            status = try entry.status()
        } catch {
            throw .readingStatus(error, of: entry.path)
        }
        var mayBeTagged = false
        if case .caches = context.place { mayBeTagged = context.unit == nil }
        let found = try (mayBeTagged ? marksAndTags : marks)
            .marks(of: entry, kind: status.kind, status: status)
        let decision = rules.policy.decide(
            found.native, kind: status.kind, in: context.policy, name: entry.nameBytes,
            path: entry.path, linkCount: status.linkCount, isMountRoot: false)
        return Seen(
            status: status, decision: decision,
            isMarked: found.native.isPurgeable.value == true,
            isTagged: found.foreign.excluding.contains(.cachedir))
    }

    private mutating func cannotLook(
        at entry: borrowing TreeEntry, _ error: FileError, in context: PurgeContext
    ) {
        let reason = KeepReason.unreadable(error.errno ?? .ioError)
        if context.unit != nil {
            portion.keepReason = reason
        } else {
            sink.note(pathBytes(of: entry), reason)
        }
    }

    // MARK: In a unit

    private mutating func visitInside(
        _ entry: borrowing TreeEntry, _ seen: Seen, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        if portion.keepReason != nil { return .skip }
        if let reason = rules.reasonToKeep(entry.nameBytes, seen.status, seen.decision) {
            portion.keepReason = reason
            return .skip
        }
        count(seen.status)
        guard seen.status.kind == .directory else { return .skip }
        var below = context
        below.policy = seen.decision.contextForEntries
        return .descend(below)
    }

    private mutating func count(_ status: FileStatus) {
        portion.itemCount += 1
        portion.lastUse = max(portion.lastUse, status.lastUse)
        portion.newestChange = max(portion.newestChange, status.attributeModificationTime)
        if status.kind != .directory, status.linkCount > 1 {
            links.append(
                LinkedFile(
                    identity: status.identity, linkCount: status.linkCount,
                    bytes: status.allocatedSize))
        } else {
            portion.bytes += status.allocatedSize
        }
    }

    /// Hands over what this thread saw of the unit it was in.
    private mutating func change(to next: UnitTally?) {
        guard unit !== next else { return }
        unit?.add(portion, links)
        unit = next
        portion = UnitPortion()
        links.removeAll(keepingCapacity: true)
    }

    // MARK: Outside units

    private mutating func visitAlone(
        _ entry: borrowing TreeEntry, _ seen: Seen, in context: PurgeContext
    ) -> Descent<PurgeContext> {
        let isRoot = entry.depth == 0
        let name = entry.nameBytes
        let isTrusted = context.trustsMarks && rules.isTrusted(seen.status)
        // Outside units a mark is inherited only where the search began below one.
        let isMarked = seen.decision.isPurgeable && isTrusted
        if seen.isMarked, !isTrusted { sink.note(pathBytes(of: entry), .untrustedMark) }
        guard
            let purgeClass = isRoot
                ? nil
                : rules.purgeClass(
                    seen.status, isMarked: isMarked, isTagged: seen.isTagged, in: context.place)
        else { return descend(into: entry, seen, in: context) }
        let reason =
            rules.reasonToKeep(name, seen.status, seen.decision)
            ?? rules.reasonToKeepAlone(name, seen.status, in: context.place)
        if let reason {
            sink.note(pathBytes(of: entry), reason)
            // What lies on the way to a protected directory may hold units of its own.
            return reason == .protectedRoot
                ? descend(into: entry, seen, in: context, isNoted: true) : .skip
        }
        guard seen.status.kind == .directory else {
            sink.add(file: entry, seen.status, purgeClass, rules)
            return .skip
        }
        let start = UnitStart(
            path: pathBytes(of: entry), purgeClass: purgeClass, status: seen.status,
            newestAllowed: rules.newestAllowed)
        let tally = UnitTally(start) { [sink] in sink.add($0, $1) }
        change(to: tally)
        count(seen.status)
        return .descend(
            PurgeContext(
                policy: seen.decision.contextForEntries, place: context.place, unit: tally,
                trustsMarks: context.trustsMarks))
    }

    private mutating func descend(
        into entry: borrowing TreeEntry, _ seen: Seen, in context: PurgeContext,
        isNoted: Bool = false
    ) -> Descent<PurgeContext> {
        guard seen.status.kind == .directory else { return .skip }
        let isKept = seen.decision.purgeability.isProtected
        let obstacle = isKept ? .protected(seen.decision.purgeability) : rules.obstacle(seen.status)
        if let obstacle {
            if !isNoted { sink.note(pathBytes(of: entry), obstacle) }
            return .skip
        }
        let name = entry.nameBytes
        let place =
            entry.depth == 0
            ? context.place : rules.place(inside: seen.status, named: name, of: context.place)
        let passesTrust =
            !UntrustedPlaces.contains(name)
            && (!seen.decision.isPurgeable || rules.isTrusted(seen.status))
        return .descend(
            PurgeContext(
                policy: seen.decision.contextForEntries, place: place,
                trustsMarks: context.trustsMarks && passesTrust))
    }
}

func pathBytes(of entry: borrowing TreeEntry) -> [UInt8] {
    var bytes: [UInt8] = []
    entry.appendPath(to: &bytes)
    return bytes
}
