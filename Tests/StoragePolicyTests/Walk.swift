import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport

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
    policy.decide(chain(steps), source: source).decision
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
