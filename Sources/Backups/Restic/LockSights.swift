import SystemCalls
import SystemPackage

/// For how long the locks of a repository have been seen, as a file in the state directory records.
///
/// restic renews a lock every five minutes under another identifier, and stops its work when it could
/// not for 22. So a lock whose identifier stayed for 31 minutes is dead, whatever machine, clock or
/// process it is from. Only time that passed between two sights in the same boot counts, which adds up
/// over runs and boots. In doubt a lock was seen for a shorter time: two programs that write the file
/// at once can lose sights, and never make some up.
struct LockSights: Sendable, Hashable {
    /// The sights of one lock.
    private struct Sight: Hashable {
        /// The identifier of the boot of the first and last sight.
        let boot: String
        /// The times of these sights since that boot, in seconds.
        let first: Int64
        var last: Int64
        /// For how long the lock was seen in earlier boots, in seconds.
        let earlier: Int64

        var age: Int64 { earlier.addingSaturating(last - first) }
    }

    /// How long a lock must be seen to be dead, in seconds.
    static let deadAge: Int64 = 31 * 60
    /// The number of locks that are recorded; further ones are never dead.
    static let limit = 10_000
    /// The most bytes that a file of so many locks has.
    static let longestFile = limit * 300

    private var sights: [String: Sight] = [:]

    init() {}

    /// Parses the contents of a file. A line that is not exactly as ``contents`` has it is ignored.
    init(_ contents: [UInt8]) {
        let lines = contents.split(separator: UInt8(ascii: "\n")).compactMap(Self.parse)
        sights = Dictionary(lines) { $0.age < $1.age ? $0 : $1 }
    }

    /// The contents of the file: a JSON object on a line for each lock.
    var contents: [UInt8] {
        sights.sorted { $0.key < $1.key }.flatMap(Self.line)
    }

    /// Records that locks are listed now. Those that are not are forgotten.
    ///
    /// - Parameters:
    ///   - identifiers: of all locks in the repository.
    ///   - bootIdentifier: of the current boot.
    ///   - bootTime: the time since that boot, in seconds, including that in suspend.
    /// - Returns: the identifiers of the dead ones.
    mutating func see(
        _ identifiers: [String], bootIdentifier: String, bootTime: Int64
    ) -> Set<String> {
        let known = sights
        sights = [:]
        for identifier in identifiers.sorted().prefix(Self.limit) {
            var sight = Sight(boot: bootIdentifier, first: bootTime, last: bootTime, earlier: 0)
            if let before = known[identifier] {
                if before.boot != bootIdentifier {
                    sight = Sight(
                        boot: bootIdentifier, first: bootTime, last: bootTime, earlier: before.age)
                } else if before.last <= bootTime {
                    sight = before
                    sight.last = bootTime
                }
            }
            sights[identifier] = sight
        }
        return Set(sights.filter { $0.value.age >= Self.deadAge }.keys)
    }

    private static func line(_ identifier: String, _ sight: Sight) -> [UInt8] {
        var line = JSONLine()
        line.add("lock", identifier)
        line.add("boot", sight.boot)
        line.add("first", sight.first)
        line.add("last", sight.last)
        line.add("earlier", sight.earlier)
        return line.ended()
    }

    private static func parse(_ line: ArraySlice<UInt8>) -> (String, Sight)? {
        var (identifier, boot) = ("", "")
        var numbers: [String: Int64] = [:]
        var scanner = JSONScanner(line)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                switch name {
                case "lock": identifier = try scanner.text()
                case "boot": boot = try scanner.text()
                default: numbers[name] = try scanner.amount()
                }
            }
        } catch {
            return nil
        }
        guard let first = numbers["first"], let last = numbers["last"],
            let earlier = numbers["earlier"], first <= last
        else { return nil }
        let sight = Sight(boot: boot, first: first, last: last, earlier: earlier)
        return Self.line(identifier, sight).dropLast() == line ? (identifier, sight) : nil
    }
}
