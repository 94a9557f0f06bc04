import ResourceValues
import SystemPackage

@usableFromInline
struct OwnMarks {
    var native: Marks
    var foreign: ForeignMarks
    var kind: FileKind
    var isKeptTagFile: Bool

    @usableFromInline
    init(native: Marks, foreign: ForeignMarks, kind: FileKind, isKeptTagFile: Bool = false) {
        self.native = native
        self.foreign = foreign
        self.kind = kind
        self.isKeptTagFile = isKeptTagFile
    }

    var mayHaveEntries: Bool { kind == .directory || kind == .unknown }
}

extension StoragePolicy {
    /// Decides by all rules, for items that the fast path of `decide` does not cover.
    ///
    /// - Parameters:
    ///   - place: the item's own node in the tree of locations.
    @usableFromInline
    func decide(
        _ own: OwnMarks, below inherited: Inherited?, at place: LocationNode?,
        path: () -> FilePath, linkCount: () -> Int?, isMountRoot: () -> Bool,
        isWritableByOthers: () -> Bool
    ) -> Decision {
        var values = inherited?.values ?? .nothing
        if values.exclusionByLocation != nil, endsLocation(own, place, isMountRoot) {
            values.exclusionByLocation = nil
        }
        if own.isKeptTagFile { values.exclusionByMark = nil }
        let byMarks = exclusionByMarks(own, isAlreadyExcluded: values.exclusion != nil, linkCount)
        let exclusion =
            values.exclusion ?? Effective(byMarks ?? location(at: place, own) ?? .unmarked)
        var issues = issues(own, exclusion.cause)
        if exclusion.ownCause?.marker != nil, isWritableByOthers() {
            issues.append(.writableByOthers)
        }
        let verdict = verdict(
            exclusion, purgeability(own.native[.isPurgeable], below: values.purgeability, path),
            protection(own.native[.fileProtection], below: values.protection), issues, place)
        guard own.mayHaveEntries else {
            return Decision(verdict: verdict, contextForEntries: .empty)
        }
        let passed = values.passedOn(by: byMarks, verdict, at: path)
        let isUnchanged = inherited?.values == passed
        let context = PolicyContext(
            inherited: isUnchanged ? inherited : passed == .nothing ? nil : Inherited(passed),
            place: place.flatMap { $0.isLeaf ? nil : $0 })
        return Decision(verdict: verdict, contextForEntries: context)
    }

    private func endsLocation(
        _ own: OwnMarks, _ place: LocationNode?, _ isMountRoot: () -> Bool
    ) -> Bool {
        if let place, place.isCutOut { return true }
        return own.mayHaveEntries && isMountRoot()
    }

    /// Applies rules 2 and 3; nil if neither applies, or if they have no effect: entries of
    /// excluded directories stay excluded, and only directories pass a mark on.
    private func exclusionByMarks(
        _ own: OwnMarks, isAlreadyExcluded: Bool, _ linkCount: () -> Int?
    ) -> ExclusionCause? {
        if isAlreadyExcluded && !own.mayHaveEntries { return nil }
        guard
            let exclusion = nativeExclusion(own.native) ?? own.foreign.exclusion(among: markers)
        else { return nil }
        guard exclusion.isExcluded, own.kind == .regularFile else { return exclusion }
        let count = linkCount()
        return count == 1 ? exclusion : .hardLinked(linkCount: count)
    }

    /// Applies rule 2.
    private func nativeExclusion(_ marks: Marks) -> ExclusionCause? {
        guard markers.contains(.native) else { return nil }
        if let value = marks.isExcludedFromBackup { return value ? .marked : .markedFalse }
        return BrokenMark(marks[.isExcludedFromBackup], of: .isExcludedFromBackup)
            .map { .malformed($0) }
    }

    /// Applies rule 4.
    private func location(at place: LocationNode?, _ own: OwnMarks) -> ExclusionCause? {
        guard own.mayHaveEntries else { return nil }
        return place?.location.map { .location($0) }
    }

    private func purgeability(
        _ mark: Mark, below inherited: Purgeability?, _ path: () -> FilePath
    ) -> Purgeability {
        if let inherited, inherited.cause.isProtected { return inherited }
        if mark.value == false { return Effective(.markedFalse) }
        if let broken = BrokenMark(mark, of: .isPurgeable) { return Effective(.malformed(broken)) }
        if let inherited { return inherited }
        guard mark.value == true else { return .unmarked }
        return Effective(objection?(path()).map { .objection($0) } ?? .marked)
    }

    private func protection(
        _ mark: Mark, below inherited: EffectiveProtection?
    ) -> EffectiveProtection {
        if let value = mark.value?.protection { return Effective(.marked(value)) }
        if let broken = BrokenMark(mark, of: .fileProtection) {
            return Effective(.malformed(broken))
        }
        return inherited ?? .unmarked
    }

    private func verdict(
        _ exclusion: Exclusion, _ purgeability: Purgeability, _ protection: EffectiveProtection,
        _ issues: [PolicyIssue], _ place: LocationNode?
    ) -> Verdict? {
        let isPlain =
            exclusion == .unmarked && purgeability == .unmarked && protection == .unmarked
        if isPlain && issues.isEmpty { return nil }
        return Verdict(
            exclusion: exclusion, purgeability: purgeability, protection: protection,
            issues: issues,
            mayHoldIncludedItems: exclusion.cause.isLocation && place?.holdsCutOut == true)
    }

    private func issues(_ own: OwnMarks, _ exclusion: ExclusionCause) -> [PolicyIssue] {
        var issues: [PolicyIssue] = own.native.broken.map { .malformed($0) }
        if case .hardLinked(let count) = exclusion { issues.append(.hardLinked(linkCount: count)) }
        if let conflict = conflict(own) { issues.append(conflict) }
        for marker in own.foreign.unreadable.keys.sorted() where markers.contains(marker) {
            issues += own.foreign.unreadable[marker].map { [.unreadableMarker(marker, $0)] } ?? []
        }
        for (marker, reason) in own.foreign.uncertain.sorted(by: { $0.key < $1.key })
        where markers.contains(marker) { issues.append(.uncertainMarker(marker, reason)) }
        return issues
    }

    /// Returns the conflict between marks of the chosen set; nil if they agree.
    private func conflict(_ own: OwnMarks) -> PolicyIssue? {
        guard !own.foreign.isEmpty else { return nil }
        var excluding = own.foreign.excluding
        var including = own.foreign.including
        switch own.native[.isExcludedFromBackup] {
        case .unset: break
        case .value(.boolean(true)): excluding.insert(.native)
        case .value, .malformed, .unreadable: including.insert(.native)
        }
        excluding.formIntersection(markers)
        including.formIntersection(markers)
        guard !excluding.isEmpty, !including.isEmpty else { return nil }
        return .conflict(excluding: excluding, including: including)
    }
}

extension ExclusionCause {
    var isLocation: Bool {
        if case .location = self { true } else { false }
    }
}
