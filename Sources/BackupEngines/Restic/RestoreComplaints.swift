import SystemCalls
import SystemPackage
import TextFormats

/// restic's complaints during a restore, by item where they name one of the snapshot.
struct RestoreComplaints: Sendable {
    private let lines: [[UInt8]]
    private var numbers: [[UInt8]: [Int]] = [:]
    private var isMatched: [Bool]
    private let target: [UInt8]
    private var rest: [String] = []

    private static let separator = Array(": ".utf8)

    /// Parses `PATH: CAUSE`, where PATH is the path in the snapshot while items are restored, and
    /// begins with the target while their content is compared.
    ///
    /// - Parameters:
    ///   - target: the absolute path that was passed to restic.
    ///   - lost: the items that restic was not requested to restore, since their data is not in the
    ///     repository.
    init(_ end: ResticEnd, target: FilePath, lost: [[UInt8]] = []) {
        self.target = target.bytes
        let cause = Array(": its data is missing in the repository".utf8)
        lines = end.errors.complaints + lost.map { $0 + cause }
        isMatched = Array(repeating: false, count: lines.count)
        for (number, line) in lines.enumerated() {
            for path in paths(line) { numbers[path, default: []].append(number) }
        }
        if end.errors.droppedComplaintCount > 0 {
            rest.append("restic: \(counted(end.errors.droppedComplaintCount, "more complaint"))")
        }
        guard end.code != 0 else { return }
        if lines.isEmpty {
            rest.append("restic: \(FailureText(end.errors.lines).summary(code: end.code))")
        }
        // restic compares nothing when it could not restore everything.
        if lines.contains(where: { !isOfComparison($0) }) || lines.isEmpty {
            rest.append("the content of the other files was not compared with the snapshot")
        }
    }

    /// Returns why an item failed; nil when restic did not complain of it. Complaints about this
    /// item are then not among the ``unmatched``.
    mutating func cause(of path: [UInt8]) -> RestoreFailure.Cause? {
        guard let found = numbers[path] else { return nil }
        for number in found { isMatched[number] = true }
        return found.first.map { cause(in: lines[$0], of: path) }
    }

    /// The complaints that match none of the items looked up, or concern the restore as a whole.
    var unmatched: [String] {
        rest
            + lines.indices.filter { !isMatched[$0] }
            .map { "restic: ignoring error for \(String(decoding: lines[$0], as: UTF8.self))" }
    }

    /// Returns every possible path in a line, since both the path and the cause may contain the
    /// separator.
    private func paths(_ line: [UInt8]) -> [[UInt8]] {
        var paths: [[UInt8]] = []
        let text = isOfComparison(line) ? line[target.count...] : line[...]
        var searched = text
        while let separator = searched.firstRange(of: Self.separator) {
            paths.append(Array(text[..<separator.lowerBound]))
            searched = searched[separator.upperBound...]
        }
        return paths
    }

    private func isOfComparison(_ line: [UInt8]) -> Bool {
        line.starts(with: target) && line.dropFirst(target.count).first == UInt8(ascii: "/")
    }

    private func cause(in line: [UInt8], of path: [UInt8]) -> RestoreFailure.Cause {
        let isCompared = isOfComparison(line)
        let start = (isCompared ? target.count : 0) + path.count + Self.separator.count
        let text = String(decoding: line[start...], as: UTF8.self)
        guard isCompared else { return .different(text) }
        guard text.hasPrefix("Unexpected content in ") || text.hasPrefix("Invalid file size for ")
        else { return .unchecked(text) }
        let offset = FailureText.rest(of: text, after: ", starting at offset ")
        return .content(offset: offset.flatMap { Int64($0) })
    }
}
