import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("restic leaves out exactly what the plan does", .cleansUp)
struct ResticExclusionTests {
    private static let names: [FileName] =
        HostileNames.all + [
            "next line\u{85}", "no-break\u{A0}", "ogham\u{1680}", "en quad\u{2000}",
            "line\u{2028}", "paragraph\u{2029}", "narrow\u{202F}", "math\u{205F}",
            "ideographic\u{3000}", "zero width\u{200B}", "end$", "$1", "${X", "a$$b", "**", "!not",
            "~", "[^a]", "\u{FFFD}", FileName([0x61, 0x85]), FileName([0xFF]), "two  ", "\n\n",
            FileName([0xC2, 0xC2, 0x85]), "vertical\u{B}",
            "a\\", "\u{FEFF}bom",
        ]

    @Test("of hostile files and directories among names like theirs, either way")
    func hostileNames() throws {
        try require(.tool("restic"))
        let base = try temporaryDirectory {
            Directory("source") {
                for (index, name) in Self.names.enumerated() {
                    Directory("f\(index)") {
                        File(name).excluded()
                        for decoy in decoys(of: name) { File(decoy) }
                    }
                    Directory("d\(index)") {
                        Directory(name) {
                            File(name); File("in")
                        }.excluded()
                        for decoy in decoys(of: name) { Directory(decoy) { File("in") } }
                    }
                }
            }
        }
        let source = base.appending("source")
        let plan = try makePlan(source)
        #expect(plan.exclusions.count == 2 * Self.names.count)
        let expected = try stored(of: plan, source)
        let restic = try Restic(in: base)
        let exclusions = ResticSelection.exclusions(of: plan)
        let few = ResticSelection(
            patterns: exclusions.flatMap { ResticPattern.patterns(for: $0) })
        try expectStored(expected, by: restic, few, source)
        try expectStored(expected, by: restic, coverSelection(of: plan), source)
    }

    @Test("of directories for caches everything but the tags, either way")
    func cacheDirectories() throws {
        try require(.tool("restic"))
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        let base = try temporaryDirectory {
            Directory("source") {
                for name in HostileNames.all + ["!not", "$1", "end$"] {
                    Directory(name) {
                        File("CACHEDIR.TAG", signature)
                        File("CACHEDIR.TAG2")
                        Directory("d") { File("CACHEDIR.TAG", signature) }
                    }
                }
                File("kept")
            }
        }
        let source = base.appending("source")
        let plan = try makePlan(source, policy: StoragePolicy(markers: [.cachedir])) {
            $0.makesManifest = true
        }
        let count = HostileNames.all.count + 3
        #expect(plan.exclusions.count == count)
        #expect(plan.totals.storedFiles == count + 1)
        #expect(plan.manifest?.count == plan.totals.storedItems)
        let expected = try stored(of: plan, source)
        #expect(expected.count == 2 * count + 1)
        let restic = try Restic(in: base)
        try expectStored(expected, by: restic, plan.resticSelection(), source)
        try expectStored(expected, by: restic, coverSelection(of: plan), source)
    }

    @Test("of very many, stores only a thousand empty directories, the nearest to the root")
    func veryMany() throws {
        try require(.tool("restic"))
        let base = try temporaryDirectory {
            Directory("source/a") {
                for number in 0..<800 {
                    Directory("own\(number)") { File("in") }.excluded()
                    Directory("only\(number)/own") { File("in") }.excluded()
                }
            }
            Directory("source/z") { File("in") }.excluded()
            File("source/kept")
        }
        let source = base.appending("source")
        let plan = try makePlan(source) { $0.makesManifest = true }
        let selection = try plan.resticSelection()
        #expect(selection.excludeFile.count { $0 == UInt8(ascii: "\n") } == 1000)
        let found = try Restic(in: base).storedPaths(selection, of: source)
        let skipped = source.length + 1
        let unlisted = Set(selection.unlisted.map { Array($0.dropFirst(skipped)) })
        #expect(found.contains(Array("z".utf8)) && found.isDisjoint(with: unlisted))
        try #expect(found.union(unlisted) == stored(of: plan, source))
        #expect(plan.manifest?.without(selection.unlisted).count == found.count + 1)
    }

    @Test("by no line that is longer than restic reads, and of the root by /*")
    func patterns() {
        let path = "/" + String(repeating: "\n", count: 4094)
        #expect(ResticPattern(matching: FilePath(path)).line.count < 65_536)
        #expect(ResticPattern(contentsOf: "/").line == Array("/*".utf8))
    }

    private func expectStored(
        _ expected: Set<[UInt8]>, by restic: Restic, _ selection: ResticSelection,
        _ source: FilePath, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try restic.storedPaths(selection, of: source)
        let (missing, surplus) = (expected.subtracting(found), found.subtracting(expected))
        #expect(
            missing.isEmpty, "lost: \(missing.map(quotedForMessages))",
            sourceLocation: sourceLocation)
        #expect(
            surplus.isEmpty, "not left out: \(surplus.map(quotedForMessages))",
            sourceLocation: sourceLocation)
    }

    @Test(
        "the smallest cover holds what the plan stores, and is smallest",
        arguments: 1...20 as ClosedRange<UInt64>)
    func randomTree(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let items = randomItems(&numbers, depth: 4)
        let root = try temporaryDirectory { for item in items { item } }
        let plan = try makePlan(root)
        let selection = try coverSelection(of: plan)
        let cover = try Cover(selection, of: root)
        try #expect(cover.expanded == stored(of: plan, root))
        try expectSmallest(cover, plan, root)
    }

    @Test("the smallest cover of a source without exclusions is the source")
    func wholeSource() throws {
        let root = try temporaryDirectory {
            File("whole/f")
            File("whole/g")
            File("other/kept")
            File("other/marked").excluded()
            File("file")
        }
        let sources = ["whole", "other", "file"].map { root.appending($0) }
        let plan = try makePlan(sources[0], sources[1], sources[2])
        let selection = try coverSelection(of: plan)
        let listed = selection.list.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let expected = [sources[0], root.pushing("other/kept"), sources[2]]
        #expect(listed.sorted() == expected.map(\.string).sorted())
        #expect(selection.excludeFile.isEmpty)
    }

    private func coverSelection(of plan: BackupPlan) throws -> ResticSelection {
        let exclusions = ResticSelection.exclusions(of: plan)
        return try SmallestCover(sources: plan.sources, exclusions: exclusions).selection()
    }

    /// No path is listed whose parent holds no exclusion, and none inside another.
    private func expectSmallest(
        _ cover: Cover, _ plan: BackupPlan, _ root: FilePath
    ) throws {
        #expect(Set(cover.listed).count == cover.listed.count)
        for path in cover.listed where path != root {
            let parent = path.removingLastComponent()
            let isNeeded = ResticSelection.exclusions(of: plan).contains {
                $0.path.starts(with: parent)
            }
            #expect(isNeeded, "\(parent) could be listed whole")
            #expect(!cover.listed.contains { $0 != path && path.starts(with: $0) }, "\(path)")
        }
    }
}

/// What is in a source, without what a plan leaves out.
func stored(of plan: BackupPlan, _ source: FilePath) throws -> Set<[UInt8]> {
    let skipped = source.length + 1
    var paths = try pathsBelow(source)
    for item in plan.exclusions {
        let bytes = item.path.argumentBytes
        let path = Array(bytes.dropFirst(skipped))
        if item.isDirectory {
            let prefix = path + [UInt8(ascii: "/")]
            let kept = item.reason.keptFile.map { prefix + $0.name.bytes }
            paths = paths.filter { !$0.starts(with: prefix) || $0 == kept }
        } else {
            paths.remove(path)
        }
    }
    return paths
}

/// Names that a pattern for a name would match if anything in it were misread.
private func decoys(of name: FileName) -> [FileName] {
    let bytes = name.bytes
    var candidates: [[UInt8]] = [
        bytes + Array("x".utf8), Array("x".utf8) + bytes, Array(bytes.dropLast()),
        Array(bytes.dropFirst()), Array("x".utf8), bytes + Array(" ".utf8),
        bytes.filter { $0 != UInt8(ascii: "\\") },
        bytes.filter { $0 != UInt8(ascii: "$") },
    ]
    for replacement in ["x", " ", "?", "-", "\n", "\r", "\u{FFFD}"] {
        candidates.append(
            bytes.flatMap { byte in
                let isPlain = byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "*")
                return isPlain ? [byte] : Array(replacement.utf8)
            })
    }
    let whole = Set(candidates).subtracting([bytes, [], Array(".".utf8), Array("..".utf8)])
    return whole.filter { $0.count <= 255 && $0 != Array("in".utf8) }.map { FileName($0) }
}

/// A restic repository of its own in a directory.
struct Restic {
    private let base: FilePath
    private let program: FilePath

    /// Makes the repository.
    init(in base: FilePath) throws {
        self.base = base
        program = try #require(FilePath.tool("restic"))
        try tool("cp", "-r", try emptyRepository(), base.appending("repository"))
    }

    /// Backs up as a selection says, and gives the paths that a restore brings back: of the source,
    /// from it on down, sorted.
    func storedPaths(
        _ selection: ResticSelection, of source: FilePath
    ) throws -> Set<[UInt8]> {
        var words: [any CommandArgument] = ["backup"]
        words +=
            selection.list.isEmpty
            ? [source] : ["--files-from-raw", try file("list", selection.list)]
        words += ["--exclude-file", try file("exclude", selection.excludeFile)]
        try command(words).runSuccessfully()
        let target = base.appending("restored")
        try command(["restore", "latest", "--target", target]).runSuccessfully()
        let paths = try pathsBelow(target.appending(source.components))
        try tool("rm", "-rf", target)
        return paths
    }

    private func file(_ name: String, _ contents: [UInt8]) throws -> FilePath {
        let path = base.appending(name)
        try tool("rm", "-f", path)
        try Tree { File("\(name)", contents) }.create(in: base)
        return path
    }

    private func command(_ words: [any CommandArgument]) -> Command {
        let options: [any CommandArgument] = [
            "--no-cache", "--quiet", "--repo", base.appending("repository"),
        ]
        return Command(
            program, arguments: options + words,
            environment: [
                "RESTIC_PASSWORD": repositoryPassword, "RESTIC_REPOSITORY": nil,
                "RESTIC_PASSWORD_FILE": nil, "RESTIC_PASSWORD_COMMAND": nil,
            ])
    }
}

/// The paths in a directory, from it on down, as find(1) lists them.
func pathsBelow(_ root: FilePath) throws -> Set<[UInt8]> {
    let find = try #require(FilePath.tool("find"))
    let result = try Command(find, ".", "-mindepth", "1", "-print0", in: root).run()
    try #require(result.exitCode == 0, "\(result)")
    return Set(result.records.map { Array($0.dropFirst(2)) })
}

/// What restic makes of a list and patterns, for plain names: an independent reading.
private struct Cover {
    let listed: [FilePath]
    let expanded: Set<[UInt8]>

    init(_ selection: ResticSelection, of root: FilePath) throws {
        listed = selection.list.split(separator: 0).map { FilePath(bytes: Array($0)) }
        let emptied = selection.excludeFile.split(separator: UInt8(ascii: "\n"))
            .map { FilePath(bytes: Array($0.dropLast(2))) }
        var paths: Set<[UInt8]> = []
        for bytes in try pathsBelow(root) {
            let path = root.appending(FileName(bytes))
            let isExcluded = emptied.contains { path != $0 && path.starts(with: $0) }
            let isPinned = listed.contains { path.starts(with: $0) || $0.starts(with: path) }
            let isSocket = path.lastComponent?.string.hasPrefix("socket") ?? false
            if isPinned && !isExcluded && !isSocket { paths.insert(bytes) }
        }
        expanded = paths
    }
}

private func randomItems(_ numbers: inout SeededNumbers, depth: Int) -> [any TreeItem] {
    (0..<Int.random(in: 1...4, using: &numbers)).map { index -> any TreeItem in
        let name = "\(index)" as FileName
        let isMarked = Int.random(in: 0..<4, using: &numbers) == 0
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0...2 where depth > 0:
            let items = randomItems(&numbers, depth: depth - 1)
            let directory = Directory(name) { for item in items { item } }
            return isMarked ? directory.excluded() : directory
        case 3: return Socket("socket\(index)")
        default: return isMarked ? File(name).excluded() : File(name)
        }
    }
}
