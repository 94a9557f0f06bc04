import CLinux
import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

/// What a volume says it can do is compared with what happens when it is tried.
@Suite("What volumes can do")
struct SupportTests {
    private static let kinds = comparedKinds + [.ext4SmallBlocks, .tmpfs]

    @Test("links, names, permissions and locks", arguments: kinds)
    func names(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            let root = filesystem.root
            try Tree { File("f") }.create(in: root)
            try expect(.volumeSupportsHardLinksKey, root, ["ln", "f", "hard"])
            try expect(.volumeSupportsSymbolicLinksKey, root, ["ln", "-s", "f", "soft"])
            try expect(.volumeSupportsAdvisoryFileLockingKey, root, ["flock", "-x", "f", "true"])
            try expect(
                .volumeSupportsAccessPermissionsKey, root,
                ["sh", "-c", "chmod 751 f && test $(stat -c %a f) = 751"])
            try expect(
                .volumeSupportsCaseSensitiveNamesKey, root,
                ["sh", "-c", "touch case Case && rm case && test -e Case"])
            try expect(
                .volumeSupportsCasePreservedNamesKey, root, ["sh", "-c", "ls | grep -qx Case"])
            try expect(
                .volumeSupportsRootDirectoryDatesKey, root,
                ["sh", "-c", "touch -d @1000000000 . && test $(stat -c %Y .) = 1000000000"])
            try expect(
                .volumeSupportsFileProtectionKey, root,
                ["setfattr", "-n", "user.resval.fileProtection", "-v", "none", "f"])
        }
    }

    @Test("holes, unwritten ranges, clones and flags", arguments: kinds)
    func contents(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            let root = filesystem.root
            try Tree { File("f", "text") }.create(in: root)
            try expect(
                .volumeSupportsSparseFilesKey, root,
                ["sh", "-c", "truncate -s 1M sparse && test $(stat -c %b sparse) = 0"])
            try expect(.volumeSupportsZeroRunsKey, root, ["fallocate", "-l", "1MiB", "run"])
            try expect(
                .volumeSupportsFileCloningKey, root, ["cp", "--reflink=always", "f", "clone"])
            try expect(
                .volumeSupportsImmutableFilesKey, root,
                [
                    "sh", "-c",
                    "chattr +i f && lsattr f | cut -c5 | grep -q i; s=$?; chattr -i f; exit $s",
                ])
        }
    }

    @Test("access control lists", arguments: kinds)
    func accessControlLists(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            try Tree { File("f") }.create(in: filesystem.root)
            // The list `u::rw-,u:1:r--,g::r--,m::r--,o::r--` as the kernel takes it.
            let list = "0sAgAAAAEABgD/////AgAEAAEAAAAEAAQA/////xAABAD/////IAAEAP////8="
            try expect(
                .volumeSupportsExtendedSecurityKey, filesystem.root,
                ["setfattr", "-n", "system.posix_acl_access", "-v", list, "f"])
        }
    }

    @Test("renaming that swaps and that never replaces", arguments: kinds)
    func renaming(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            let root = filesystem.root
            try Tree {
                File("a", "1"); File("b", "22")
            }.create(in: root)
            let swapped = rename(root.appending("a"), root.appending("b"), flags: 1 << 1)
            try #expect(root.value(.volumeSupportsSwapRenamingKey) as? Bool == (swapped == 0))
            try #expect(root.appending("a").value(.fileSizeKey) as? Int == (swapped == 0 ? 2 : 1))
            let refused = rename(root.appending("a"), root.appending("b"), flags: 1 << 0)
            try #expect(
                root.value(.volumeSupportsExclusiveRenamingKey) as? Bool
                    == (refused == -Int(EEXIST)))
        }
    }

    private func rename(_ old: FilePath, _ new: FilePath, flags: UInt32) -> Int {
        old.withPlatformString { old in
            new.withPlatformString { new in linux_renameat2(AT_FDCWD, old, AT_FDCWD, new, flags) }
        }
    }

    @Test("the largest size is taken, a larger one is not", arguments: kinds)
    func largestFile(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            let file = filesystem.root.appending("f")
            try Tree { File("f") }.create(in: filesystem.root)
            let told = try filesystem.root.value(.volumeMaximumFileSizeKey) as? Int
            let largest = try #require(told)
            try tool("truncate", "-s", "\(largest)", file)
            try #expect(file.value(.fileSizeKey) as? Int == largest)
            if largest < Int.max {
                let more = try Command(FilePath("/usr/bin/truncate"), "-s", "\(largest + 1)", file)
                    .run()
                #expect(more.exitCode != 0)
            }
        }
    }

    @Test("files can be found by their numbers again", arguments: kinds)
    func persistentIdentifiers(kind: FilesystemKind) throws {
        try withFilesystem(kind) { filesystem in
            try #expect(filesystem.root.value(.volumeSupportsPersistentIDsKey) as? Bool == true)
        }
    }

    @Test("journals are told for the volume at hand, not for its type alone")
    func journals() throws {
        try withImage(["mkfs.ext4", "-q", "-F", "-O", "^has_journal"], megabytes: 32) { root in
            try #expect(root.value(.volumeSupportsJournalingKey) as? Bool == true)
            try #expect(root.value(.volumeIsJournalingKey) as? Bool == false)
        }
        for (kind, isJournaling) in [(FilesystemKind.ext4, true), (.xfs, true), (.btrfs, false)] {
            try withFilesystem(kind) { filesystem in
                try #expect(
                    filesystem.root.value(.volumeIsJournalingKey) as? Bool == isJournaling)
                try #expect(
                    filesystem.root.value(.volumeSupportsJournalingKey) as? Bool == isJournaling)
            }
        }
    }

    @Test("an xfs volume made without clones says so")
    func xfsWithoutClones() throws {
        try withImage(["mkfs.xfs", "-q", "-f", "-m", "reflink=0"], megabytes: 320) { root in
            try #expect(root.value(.volumeSupportsFileCloningKey) as? Bool == false)
            try Tree { File("f", "text") }.create(in: root)
            let clone = try Command(
                FilePath("/bin/cp"), "--reflink=always", root.appending("f"), root.appending("g")
            ).run()
            #expect(clone.exitCode != 0)
        }
    }

    @Test("btrfs compresses, the others do not", arguments: comparedKinds)
    func compression(kind: FilesystemKind) throws {
        try withFilesystem(kind, options: kind == .btrfs ? ["compress-force=zstd"] : []) {
            try #expect(
                $0.root.value(.volumeSupportsCompressionKey) as? Bool == (kind == .btrfs))
        }
    }

    @Test("a type that is not known well enough answers nil")
    func unknownType() throws {
        let values = try URL(fileURLWithPath: "/proc").resourceValues(forKeys: [
            .volumeSupportsHardLinksKey, .volumeMaximumFileSizeKey, .volumeIsJournalingKey,
            .volumeSupportsFileCloningKey,
        ])
        #expect(values.allValues.isEmpty)
    }

    /// Compares what the volume says with whether a command succeeds in its root directory.
    private func expect(
        _ key: Key, _ root: FilePath, _ words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try require(.tool(words[0]))
        let program = try #require(FilePath.tool(words[0]))
        var command = Command(program, arguments: Array(words.dropFirst()))
        command.workingDirectory = root
        let result = try command.run()
        try #expect(
            root.value(key) as? Bool == (result.exitCode == 0), "\(key.rawValue): \(result)",
            sourceLocation: sourceLocation)
    }

    /// Makes a filesystem in an image with options of the test's own.
    private func withImage(
        _ maker: [String], megabytes: Int, _ body: (FilePath) throws -> Void
    ) throws {
        try require(.root, .tool(maker[0]))
        try withTemporaryDirectory(containing: Tree { Directory("mount") }) { base in
            let (image, mount) = (base.appending("image"), base.appending("mount"))
            try tool("truncate", "-s", "\(megabytes)M", image)
            try tool(maker[0], arguments: Array(maker.dropFirst()) + [image.string])
            try tool("mount", "-o", "loop", image, mount)
            let outcome = Result { try body(mount) }
            try tool("umount", mount)
            try outcome.get()
        }
    }
}
