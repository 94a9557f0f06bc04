import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("The smallest cover")
struct SmallestCoverTests {
    @Test("holds what the plan stores, and is smallest", arguments: 1...20 as ClosedRange<UInt64>)
    func randomTree(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let items = randomItems(&numbers, depth: 4)
        try withTemporaryDirectory(containing: Tree { for item in items { item } }) { root in
            let plan = try makePlan(root)
            let selection = try coverSelection(of: plan)
            let cover = try Cover(selection, of: root)
            try #expect(cover.expanded == stored(of: plan, root))
            try expectSmallest(cover, plan, root)
        }
    }

    @Test("of a source without exclusions is the source")
    func wholeSource() throws {
        let tree = Tree {
            Directory("whole") {
                File("f"); File("g")
            }
            Directory("other") {
                File("kept"); File("marked").excluded()
            }
            File("file")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let sources = ["whole", "other", "file"].map { root.appending($0) }
            let plan = try makePlan(sources[0], sources[1], sources[2])
            let selection = try coverSelection(of: plan)
            guard case .list(let list) = selection.targets else { return }
            let listed = list.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            let expected = [sources[0], root.pushing("other/kept"), sources[2]]
            #expect(listed.sorted() == expected.map(\.string).sorted())
            #expect(selection.excludeFile.isEmpty)
        }
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

/// What restic makes of a list and patterns, for plain names: an independent reading.
private struct Cover {
    let listed: [FilePath]
    let expanded: Set<[UInt8]>

    init(_ selection: ResticSelection, of root: FilePath) throws {
        guard case .list(let list) = selection.targets else {
            listed = []
            expanded = []
            return
        }
        listed = list.split(separator: 0).map { FilePath(bytes: Array($0)) }
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
        let name = FileName(Array("\(index)".utf8))
        let isMarked = Int.random(in: 0..<4, using: &numbers) == 0
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0...2 where depth > 0:
            let items = randomItems(&numbers, depth: depth - 1)
            let directory = Directory(name) { for item in items { item } }
            return isMarked ? directory.excluded() : directory
        case 3: return Socket(FileName(Array("socket\(index)".utf8)))
        default: return isMarked ? File(name).excluded() : File(name)
        }
    }
}
