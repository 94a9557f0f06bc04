import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("restic leaves out exactly what the plan does")
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
        let tree = Tree {
            Directory("source") {
                for (index, name) in Self.names.enumerated() {
                    Directory(FileName(Array("f\(index)".utf8))) {
                        File(name).excluded()
                        for decoy in decoys(of: name) { File(decoy) }
                    }
                    Directory(FileName(Array("d\(index)".utf8))) {
                        Directory(name) {
                            File(name); File("in")
                        }.excluded()
                        for decoy in decoys(of: name) { Directory(decoy) { File("in") } }
                    }
                }
            }
        }
        try withTemporaryDirectory(containing: tree) { base in
            let source = base.appending("source")
            let plan = try makePlan(source)
            #expect(plan.exclusions.count == 2 * Self.names.count)
            let expected = try stored(of: plan, source)
            let restic = try Restic(in: base)
            let exclusions = ResticSelection.exclusions(of: plan)
            let few = ResticSelection(
                targets: .sources, patterns: exclusions.flatMap { ResticPattern.patterns(for: $0) })
            try expectStored(expected, by: restic, few, source)
            let many = try SmallestCover(sources: plan.sources, exclusions: exclusions).selection()
            try expectStored(expected, by: restic, many, source)
        }
    }

    @Test("of directories for caches everything but the tags, either way")
    func cacheDirectories() throws {
        try require(.tool("restic"))
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        let tree = Tree {
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
        try withTemporaryDirectory(containing: tree) { base in
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
            let cover = SmallestCover(sources: plan.sources, exclusions: plan.exclusions)
            try expectStored(expected, by: restic, cover.selection(), source)
        }
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
