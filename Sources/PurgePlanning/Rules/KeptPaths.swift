import SystemCalls
import SystemPackage

/// Paths that tmpfiles.d says are never cleaned: its lines of the types `x` and `X`.
///
/// A walk carries along which patterns still fit, so that nothing is compared anywhere else.
struct KeptPaths: Sendable {
    /// What is known of a directory: which patterns fit so far, and how many of their parts.
    struct Position: Sendable, Hashable {
        fileprivate var candidates: [Candidate] = []

        /// Whether no pattern can fit anything below.
        var isEmpty: Bool { candidates.isEmpty }
    }

    fileprivate struct Candidate: Sendable, Hashable {
        let pattern: Int
        let part: Int
    }

    /// What is said of an item.
    enum Match: Sendable, Hashable {
        /// The item stays, not what is in it.
        case itself
        /// The item stays with all in it.
        case whole
    }

    private let patterns: [TemporaryFilesPattern]

    init(_ patterns: [TemporaryFilesPattern]) { self.patterns = patterns }

    /// The position of `/`.
    var root: Position {
        var position = Position()
        for index in patterns.indices { add(Candidate(pattern: index, part: 0), to: &position) }
        return position
    }

    /// The position of a directory, and whether it or anything above stays whole.
    func position(of path: FilePath) -> (Position, isKept: Bool) {
        var position = root
        var isKept = false
        for component in path.components {
            let (match, next) = step(from: position, to: component.bytes)
            isKept = isKept || match == .whole
            position = next
        }
        return (position, isKept)
    }

    /// What is said of an entry of a directory, and the entry's own position.
    func step(from position: Position, to name: [UInt8]) -> (Match?, Position) {
        var match: Match?
        var next = Position()
        for candidate in position.candidates {
            let pattern = patterns[candidate.pattern]
            switch pattern.parts[candidate.part] {
            case .anything: add(candidate, to: &next)
            case .name(let wanted):
                guard wanted.matches(name) else { continue }
                let following = candidate.part + 1
                guard following == pattern.parts.count else {
                    add(Candidate(pattern: candidate.pattern, part: following), to: &next)
                    continue
                }
                match = pattern.keepsContent || match == .whole ? .whole : .itself
            }
        }
        return (match, next)
    }

    /// Adds a candidate; one that stands before any number of names also stands behind them.
    private func add(_ candidate: Candidate, to position: inout Position) {
        guard !position.candidates.contains(candidate) else { return }
        position.candidates.append(candidate)
        let parts = patterns[candidate.pattern].parts
        if parts[candidate.part] == .anything, candidate.part + 1 < parts.count {
            add(Candidate(pattern: candidate.pattern, part: candidate.part + 1), to: &position)
        }
    }
}
