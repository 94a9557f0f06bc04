import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

/// One step of a way down from `/`, written as a table has it.
struct Step: Equatable {
    var name: String
    var marks = Marks()
    var kind = FileKind.directory
    var foreign = ForeignMarks.none
    var linkCount: Int? = 1
    var isMountRoot = false
    var isStrangers = false

    static func directory(_ name: String, _ marks: Marks = .none) -> Step {
        Step(name: name, marks: marks)
    }

    static func file(_ name: String, _ marks: Marks = .none, linkCount: Int? = 1) -> Step {
        Step(name: name, marks: marks, kind: .regularFile, linkCount: linkCount)
    }
}

/// Returns the steps of a way that is written as text: `d(excluded, 2 links)/f` is a directory with a mark,
/// and a file in it; where a slash ends the way, the last item is a directory, too.
func steps(_ way: String) -> [Step] {
    way.split(separator: "/").enumerated().map { index, text in
        let parts = text.split { "()".contains($0) }
        var step = Step(name: String(parts[0]))
        if !way.hasSuffix("/"), index == way.count(where: { $0 == "/" }) {
            step.kind = .regularFile
        }
        for word in parts.dropFirst().first?.split(separator: ", ") ?? [] { step.add(word) }
        return step
    }
}

extension Step {
    private static let marks: [String: Marks] = [
        "excluded": .excluded(true), "included": .excluded(false), "purgeable": .purgeable(true),
        "pinned": .purgeable(false), "malformed exclusion": .malformedExclusion,
        "unreadable exclusion": .unreadableExclusion, "malformed purging": .malformedPurgeable,
        "unreadable purging": .unreadablePurgeable, "malformed class": .malformedProtection,
        "unreadable class": .unreadableProtection,
    ]

    fileprivate mutating func add(_ word: Substring) {
        let word = String(word)
        if let marks = Self.marks[word] {
            self.marks = marks
        } else if let value = FileProtection.allCases.first(where: { $0.rawValue == word }) {
            marks = .protection(value)
        } else if word.hasSuffix(" links") {
            linkCount = Int(word.dropLast(6))
        } else if let marker = Marker.allCases.first(where: { word.hasSuffix($0.rawValue) }) {
            let isIncluding = word.hasPrefix("including ")
            foreign = ForeignMarks(
                excluding: foreign.excluding.union(isIncluding ? [] : [marker]),
                including: foreign.including.union(isIncluding ? [marker] : []))
        } else {
            precondition(word == "mount", "\(word)")
            isMountRoot = true
        }
    }
}

/// A rule as a row of a table: a way down, and what is decided on its end.
struct PolicyRow: CustomTestStringConvertible {
    let testDescription: String
    private let steps: [Step]
    /// `OUTCOME: REASON ANCESTOR (ORIGIN); ISSUE…`
    private let outcome: String
    private let policy: StoragePolicy

    init(
        _ rule: String, _ way: String, _ outcome: String, markers: Set<Marker> = Marker.defaultSet,
        locations: StorageLocations? = StoragePolicyTests.locations()
    ) {
        testDescription = rule
        steps = StoragePolicyTests.steps(way)
        self.outcome = outcome
        policy = StoragePolicy(markers: markers, locations: locations)
    }

    /// Reads rows, each a line: the rule, the way and the outcome.
    static func rows(_ table: String) -> [PolicyRow] {
        table.split(separator: "\n").map { line in
            let fields = line.split(separator: " | ").map(String.init)
            return PolicyRow(fields[0], fields[1], fields[2])
        }
    }

    /// Compares what is decided, in both forms of the question, with the row.
    ///
    /// - Parameter describe: returns the outcome, its reason with the directory above that it comes from, and
    ///   the reason there.
    func check(
        _ describe: (Decision) -> (String, reason: String, above: FilePath?, origin: String)
    ) {
        for decision in [decide(steps, policy), walk(steps, policy)] {
            let (value, reason, above, origin) = describe(decision)
            var text = "\(value): \(reason)"
            if let above { text += " \(above)" }
            if origin != reason { text += " (\(origin))" }
            #expect(([text] + decision.issues.map(\.name)).joined(separator: "; ") == outcome)
        }
    }
}

/// The items of a way down, `/` first.
func chain(_ steps: [Step], root: Marks = .none) -> [PolicyItem] {
    var path: FilePath = "/"
    var items = [PolicyItem(path: path, marks: root)]
    for step in steps {
        path.append(step.name)
        items.append(
            PolicyItem(
                path: path, marks: step.marks, kind: step.kind, foreignMarks: step.foreign,
                linkCount: step.linkCount, isMountRoot: step.isMountRoot,
                isOwnedByAnotherUser: step.isStrangers))
    }
    return items
}

/// The decision on the last step, asked for as a plain question.
func decide(
    _ steps: [Step], _ policy: StoragePolicy = StoragePolicy(), source: FilePath? = nil
) -> Decision {
    (source.map { policy.prepared(forSource: $0) } ?? policy).decide(chain(steps)).decision
}

/// The decision on the last step, asked for as a walk does that begins at `/`.
func walk(_ steps: [Step], _ policy: StoragePolicy = StoragePolicy()) -> Decision {
    var decision = policy.decide(chain([])).decision
    for item in chain(steps).dropFirst() {
        decision = policy.decide(
            item.marks, kind: item.kind, in: decision.contextForEntries,
            foreignMarks: item.foreignMarks,
            name: Array((item.path.lastComponent?.string ?? "").utf8), path: item.path,
            linkCount: item.linkCount, isMountRoot: item.isMountRoot)
    }
    return decision
}

extension Marks {
    /// Marks that may be malformed or unreadable.
    init(_ marks: [StoredKey: Mark]) {
        self.init()
        for (key, mark) in marks { self[key] = mark }
    }

    static func excluded(_ value: Bool) -> Marks { Marks(isExcludedFromBackup: value) }
    static func purgeable(_ value: Bool) -> Marks { Marks(isPurgeable: value) }
    static func protection(_ value: FileProtection) -> Marks {
        Marks(fileProtection: value)
    }
    static let malformedExclusion = Marks([
        .isExcludedFromBackup: .malformed(prefix: [1], length: 1)
    ])
    static let unreadableExclusion = Marks([.isExcludedFromBackup: .unreadable(.permissionDenied)])
    static let malformedPurgeable = Marks([.isPurgeable: .malformed(prefix: [], length: 0)])
    static let unreadablePurgeable = Marks([.isPurgeable: .unreadable(.ioError)])
    static let malformedProtection = Marks([.fileProtection: .malformed(prefix: [7], length: 1)])
    static let unreadableProtection = Marks([.fileProtection: .unreadable(.permissionDenied)])
}

/// Locations of a user `u` with the home `/home/u`, and what a test adds.
func locations(
    _ environment: [String: FilePath] = [:], passwd: String = "u:x:1000:1000::/home/u:/bin/sh\n",
    user: UInt32 = 1000, userDirectories: String = "", named: [StorageLocation] = [],
    mountPoints: [FilePath] = [], realPaths: [FilePath: FilePath] = [:],
    unsafePaths: [FilePath: FilePath] = [:], applicationCaches: [FilePath] = []
) -> StorageLocations {
    let base = BaseDirectories(
        environment: environment, passwordDatabase: PasswordDatabase(contents: Array(passwd.utf8)),
        user: user)
    var inputs = LocationInputs(
        base: base, userDirectories: Array(userDirectories.utf8), named: named,
        mountPoints: mountPoints)
    inputs.realPaths = realPaths
    inputs.unsafePaths = unsafePaths
    inputs.applicationCaches = applicationCaches
    return StorageLocations(inputs)
}
