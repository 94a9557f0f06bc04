import EffectiveValues
import SystemCalls
import SystemPackage

/// The paths that tmpfiles.d excludes from cleaning, by lines of type `x` and `X`.
///
/// The walk carries along which patterns still match, so that only those are compared.
struct KeptPaths: Sendable {
    /// The state of matching at a directory: which patterns match so far, and how many of their
    /// parts.
    struct Position: Sendable, Hashable {
        fileprivate var candidates: [Candidate] = []

        /// Whether no pattern can match anything below.
        var isEmpty: Bool { candidates.isEmpty }
    }

    fileprivate struct Candidate: Sendable, Hashable {
        let pattern: Int
        let part: Int
    }

    /// What a matching pattern keeps.
    enum Match: Sendable, Hashable {
        /// The item, but not its content.
        case itself
        /// The item and everything below it.
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

    /// Returns the position of a directory, and whether it or a directory above it is kept with
    /// everything below.
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

    /// Returns how an entry of a directory matches, and the entry's own position.
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

    /// Adds a candidate; at a part that matches any number of names, the part after it is added
    /// too.
    private func add(_ candidate: Candidate, to position: inout Position) {
        guard !position.candidates.contains(candidate) else { return }
        position.candidates.append(candidate)
        let parts = patterns[candidate.pattern].parts
        if parts[candidate.part] == .anything, candidate.part + 1 < parts.count {
            add(Candidate(pattern: candidate.pattern, part: candidate.part + 1), to: &position)
        }
    }
}
