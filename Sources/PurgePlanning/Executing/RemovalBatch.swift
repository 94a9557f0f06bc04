import SystemCalls

/// Units that were examined one after the other, with the directories among them that are to be
/// deleted together.
///
/// A unit is added only if it is needed even after all before it were deleted as expected: see
/// ``bytes``. So a batch deletes what would be deleted one by one.
struct RemovalBatch {
    /// The number of directories that are deleted together at most.
    static let longest = 32

    private struct Member {
        let planned: PurgeUnit
        /// A directory that is to be deleted; nil for a unit with a result.
        let waiting: Examination?
        let result: Result<PurgeUnit, any Error>?
    }

    private let duration: Duration
    private var members: [Member] = []
    private var begin: Duration?
    /// The directories that are to be deleted.
    private(set) var waiting: [Examination] = []
    /// How many bytes deleting these was expected to free, with the files that were deleted.
    private(set) var bytes: Int64 = 0
    /// How many of those bytes are freed for certain.
    private(set) var certainBytes: Int64 = 0

    /// - Parameter duration: how long units are examined before those that wait are deleted: what
    ///   was seen of the first gets old.
    init(lasting duration: Duration) { self.duration = duration }

    /// Whether no other unit may be added.
    var isFull: Bool {
        if waiting.count >= Self.longest { return true }
        return begin.map { timeSinceBoot() - $0 >= duration } ?? false
    }

    /// Whether a unit is among those that wait.
    func contains(_ unit: PurgeUnit) -> Bool {
        waiting.contains { $0.unit.identity == unit.identity }
    }

    /// Adds a directory that is to be deleted.
    ///
    /// - Parameter time: when its examination began.
    mutating func add(_ planned: PurgeUnit, _ examined: Examination, since time: Duration) {
        begin = begin ?? time
        waiting.append(examined)
        members.append(Member(planned: planned, waiting: examined, result: nil))
        count(examined.unit)
    }

    /// Adds a unit that was deleted, or is kept.
    mutating func add(_ planned: PurgeUnit, _ result: Result<PurgeUnit, any Error>) {
        members.append(Member(planned: planned, waiting: nil, result: result))
        if case .success(let unit) = result { count(unit) }
    }

    private mutating func count(_ unit: PurgeUnit) {
        bytes.addSaturating(unit.bytes)
        certainBytes.addSaturating(unit.certainBytes)
    }

    /// Returns the units in the order in which they were added, with their results.
    ///
    /// - Parameter failures: for each directory that waits why it was not deleted, or nil; empty
    ///   when that was not tried: these are then left out.
    func results(
        _ failures: [(any Error)?]
    ) -> [(planned: PurgeUnit, result: Result<PurgeUnit, any Error>)] {
        var failures = failures[...]
        return members.compactMap { member in
            if let result = member.result { return (member.planned, result) }
            guard let examined = member.waiting, let failure = failures.popFirst() else {
                return nil
            }
            return (member.planned, failure.map { .failure($0) } ?? .success(examined.unit))
        }
    }
}
