import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

/// What a volume says it can do is compared with what happens when it is tried.
@Suite("What volumes can do", .cleansUp)
struct SupportTests {
    private static let kinds = comparedKinds + [.ext4SmallBlocks, .tmpfs]

    @Test("marks, clones and flags", arguments: kinds)
    func features(kind: FilesystemKind) throws {
        let root = try filesystem(kind) { File("f", "text") }.root
        try expect(
            .volumeSupportsFileProtectionKey, root,
            ["setfattr", "-n", "user.resval.fileProtection", "-v", "none", "f"])
        try expect(.volumeSupportsFileCloningKey, root, ["cp", "--reflink=always", "f", "clone"])
        try expect(
            .volumeSupportsImmutableFilesKey, root,
            [
                "sh", "-c",
                "chattr +i f && lsattr f | cut -c5 | grep -q i; s=$?; chattr -i f; exit $s",
            ])
    }

    @Test("an xfs volume made without clones says so")
    func xfsWithoutClones() throws {
        let root = try filesystem(.xfs, features: ["-m", "reflink=0"]) { File("f", "text") }.root
        try #expect(root.value(.volumeSupportsFileCloningKey) as? Bool == false)
        let clone = try Command(
            FilePath("/bin/cp"), "--reflink=always", root.appending("f"), root.appending("g")
        ).run()
        #expect(clone.exitCode != 0)
    }

    /// Compares what the volume says with whether a command succeeds in its root directory.
    private func expect(
        _ key: Key, _ root: FilePath, _ words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try require(.tool(words[0]))
        let program = try #require(FilePath.tool(words[0]))
        let result = try Command(program, arguments: Array(words.dropFirst()), in: root).run()
        try #expect(
            root.value(key) as? Bool == (result.exitCode == 0), "\(key.rawValue): \(result)",
            sourceLocation: sourceLocation)
    }
}
