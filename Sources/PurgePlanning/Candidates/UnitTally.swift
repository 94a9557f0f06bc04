import SystemCalls

/// The totals of a directory unit while its tree is walked.
///
/// The totals are complete when nothing below the directory is left to visit, and each visitor that
/// entered the unit has left it and added what it saw. The last of these calls returns them.
final class UnitTally: Sendable {
    private struct State {
        var portion = UnitPortion()
        var links = LinkTable()
        var visitors = 0
        var isWalked = false

        var totals: UnitPortion? {
            guard isWalked, visitors == 0 else { return nil }
            var totals = portion
            totals.bytes.addSaturating(links.completeBytes)
            return totals
        }
    }

    let start: UnitStart
    private let state = Monitor(State())

    init(_ start: UnitStart) { self.start = start }

    /// Records that a visitor meets items of the unit.
    func enter() { state.withLock { $0.visitors += 1 } }

    /// Adds what a visitor saw since it entered the unit, which it leaves.
    ///
    /// - Returns: the totals if they are complete.
    func leave(_ portion: UnitPortion, _ links: [LinkedFile]) -> UnitPortion? {
        state.withLock { state in
            state.portion.add(portion)
            for link in links { state.links.add(link) }
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

/// What is known about a unit when the walk reaches it.
struct UnitStart: Sendable {
    let path: [UInt8]
    let purgeClass: PurgeClass
    let status: FileStatus
    /// The age the unit must have.
    let ageLimit: AgeLimit
}

/// What was seen of a unit: all of it, or the part one thread walked.
struct UnitPortion: Sendable {
    /// Why the unit is kept; nil when no reason was found.
    var keepReason: KeepReason?
    /// The latest access, modification, change or birth time; change times of directories do not
    /// count.
    var lastUse = FileTime(seconds: .min, nanoseconds: 0)
    /// The latest inode change time.
    var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// How many bytes deleting the items frees, not counting files with several hard links.
    var bytes: Int64 = 0
    /// The number of items.
    var itemCount = 0

    mutating func add(_ other: UnitPortion) {
        keepReason = keepReason ?? other.keepReason
        lastUse = max(lastUse, other.lastUse)
        newestChange = max(newestChange, other.newestChange)
        bytes.addSaturating(other.bytes)
        itemCount += other.itemCount
    }
}

/// One hard link of a file that has several.
struct LinkedFile: Sendable {
    let identity: FileIdentity
    let linkCount: Int
    let bytes: Int64
}

/// Counts the hard links met of files that have several: their blocks are freed only with the last.
struct LinkTable: Sendable {
    private var missing: [FileIdentity: Int] = [:]
    /// The size in bytes of the files all of whose hard links were met.
    private(set) var completeBytes: Int64 = 0

    mutating func add(_ file: LinkedFile) {
        let left = missing[file.identity, default: file.linkCount] - 1
        missing[file.identity] = left
        if left == 0 { completeBytes.addSaturating(file.bytes) }
    }
}
