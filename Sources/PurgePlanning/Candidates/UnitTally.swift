import SystemCalls

/// What is known of a directory unit while its tree is walked.
///
/// The walk's contexts hold it, so it goes when nothing below the directory is left to visit, and
/// then hands over what it has come to. Threads add what they saw in portions: see ``UnitPortion``.
final class UnitTally: Sendable {
    private struct State {
        var portion = UnitPortion()
        var links = LinkTable()
    }

    private let start: UnitStart
    private let outcome: @Sendable (UnitStart, consuming UnitPortion) -> Void
    private let state = Monitor(State())

    /// - Parameter outcome: called once, from any thread, when the unit has been walked.
    init(
        _ start: UnitStart,
        outcome: @escaping @Sendable (UnitStart, consuming UnitPortion) -> Void
    ) {
        self.start = start
        self.outcome = outcome
    }

    deinit {
        let portion = state.withLock { state in
            var portion = state.portion
            portion.bytes.addSaturating(state.links.completeBytes)
            return portion
        }
        outcome(start, portion)
    }

    /// Adds what a thread saw.
    func add(_ portion: UnitPortion, _ links: [LinkedFile]) {
        state.withLock { state in
            state.portion.add(portion)
            for link in links { state.links.add(link) }
        }
    }
}

/// What is known of a unit when it is met.
struct UnitStart: Sendable {
    let path: [UInt8]
    let purgeClass: PurgeClass
    let status: FileStatus
    /// How old it must be.
    let ageLimit: AgeLimit
}

/// What was seen of a unit: of all of it, or of the part one thread walked.
struct UnitPortion: Sendable {
    /// Why the unit is kept; nil when nothing speaks against deleting it.
    var keepReason: KeepReason?
    /// When the newest item was last used, changed or made.
    var lastUse = FileTime(seconds: .min, nanoseconds: 0)
    /// When the inode of any item was changed last.
    var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// What deleting the items frees, files with several links left out.
    var bytes: Int64 = 0
    /// How many items there are.
    var itemCount = 0

    mutating func add(_ other: UnitPortion) {
        keepReason = keepReason ?? other.keepReason
        lastUse = max(lastUse, other.lastUse)
        newestChange = max(newestChange, other.newestChange)
        bytes.addSaturating(other.bytes)
        itemCount += other.itemCount
    }
}

/// One name of a file that has several.
struct LinkedFile: Sendable {
    let identity: FileIdentity
    let linkCount: Int
    let bytes: Int64
}

/// Counts the names of files that have several: their blocks are freed only with the last one.
struct LinkTable: Sendable {
    private var missing: [FileIdentity: Int] = [:]
    /// What files all of whose names were seen take, in bytes.
    private(set) var completeBytes: Int64 = 0

    mutating func add(_ file: LinkedFile) {
        let left = missing[file.identity, default: file.linkCount] - 1
        missing[file.identity] = left
        if left == 0 { completeBytes.addSaturating(file.bytes) }
    }
}
