import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

/// The filesystems whose answers are compared with those of other programs.
let comparedKinds: [FilesystemKind] = [.ext4, .xfs, .btrfs]

@Suite("Side by side with stat", .cleansUp)
struct StatTests {
    private static let tree = Tree {
        File("empty")
        File("file", Array(repeating: 7, count: 100_000))
        HardLink("twin", to: "file")
        SparseFile("sparse", hole: 10_000_000, data: "end")
        File("attributes").excluded().purgeable()
        Directory("directory") {
            File("a"); File("b")
        }
        SymbolicLink("link", to: "file")
        Fifo("fifo")
        Socket("socket")
    }
    private static let names: [FileName] = [
        "empty", "file", "twin", "sparse", "attributes", "directory", "link", "fifo", "socket",
    ]
    private static let keys: [Key] = [
        .fileSizeKey, .totalFileSizeKey, .fileAllocatedSizeKey, .totalFileAllocatedSizeKey,
        .linkCountKey, .fileIdentifierKey, .preferredIOBlockSizeKey, .creationDateKey,
        .contentAccessDateKey, .contentModificationDateKey, .attributeModificationDateKey,
        .isRegularFileKey, .isDirectoryKey, .isSymbolicLinkKey, .fileResourceTypeKey,
        .isAliasFileKey,
    ]

    @Test("the largest file, and the first and last times there are, are told")
    func extremes() throws {
        let filesystem = try filesystem(.tmpfs)
        for (size, time) in [
            ("9223372036854775807", "@9223372036854775807"),
            ("9223372036854775806", "@-9223372036854775807"),
        ] {
            let file = filesystem.root.appending(FileName(Array(size.utf8)))
            try tool("truncate", "--size", size, file)
            try tool("touch", "--date", time, file)
            var url = file.url
            let values = try url.resourceValues(
                forKeys: [.fileSizeKey, .contentModificationDateKey])
            #expect(values.fileSize == Int(size))
            let date = try #require(values.contentModificationDate)
            #expect(abs(date.timeIntervalSince1970) > 9e18)
            // Dates are written back to the nearest time that is known.
            var changed = URLResourceValues()
            changed.contentModificationDate = date
            try url.setResourceValues(changed)
        }
    }

    @Test("kinds, sizes, links, inodes and times are those of stat", arguments: comparedKinds)
    func status(kind: FilesystemKind) throws {
        let types: [Substring: URLFileResourceType] = [
            "regular file": .regular, "regular empty file": .regular, "directory": .directory,
            "symbolic link": .symbolicLink, "fifo": .namedPipe, "socket": .socket,
        ]
        let filesystem = try filesystem(kind) { Self.tree }
        try tool("sync", "-f", filesystem.root)
        for name in Self.names {
            let path = filesystem.root.appending(name)
            let values = try path.url.resourceValues(forKeys: Self.keys)
            let told = try tool("stat", "-c", "%s %b %B %h %i %o %.9W %.9X %.9Y %.9Z %F", path)
                .split(separator: " ", maxSplits: 10)
            let numbers = told.prefix(6).compactMap { Int($0) }
            let isFile = told[10].hasPrefix("regular")
            #expect(values.fileResourceType == types[told[10]])
            #expect(values.isRegularFile == isFile)
            #expect(values.isDirectory == (told[10] == "directory"))
            #expect(values.isSymbolicLink == (told[10] == "symbolic link"))
            #expect(values.isAliasFile == values.isSymbolicLink)
            #expect(values.fileSize == (isFile ? numbers[0] : nil))
            #expect(values.totalFileSize == values.fileSize)
            #expect(values.fileAllocatedSize == (isFile ? numbers[1] * numbers[2] : nil))
            #expect(values.totalFileAllocatedSize == values.fileAllocatedSize)
            #expect(values.linkCount == numbers[3])
            #expect(values.fileIdentifier == UInt64(numbers[4]))
            #expect(values.preferredIOBlockSize == numbers[5])
            let times = told[6...9].compactMap { Double($0) }
            #expect(times[0] > 0)
            for (date, seconds) in zip(
                [
                    values.creationDate, values.contentAccessDate,
                    values.contentModificationDate, values.attributeModificationDate,
                ], times)
            {
                try #expect(abs(#require(date).timeIntervalSince1970 - seconds) < 1e-6)
            }
        }
    }

    @Test("a filesystem that keeps no birth times has no creation dates")
    func withoutBirth() throws {
        let told = try tool("stat", "-c", "%W", FilePath("/proc/self/status"))
        try #require(told == "0")
        try #expect(FilePath("/proc/self/status").value(.creationDateKey) == nil)
    }

    @Test("dates that are set are what stat tells", arguments: comparedKinds)
    func setDates(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f") }
        let file = filesystem.root.appending("f")
        var values = URLResourceValues()
        values.contentModificationDate = Date(timeIntervalSince1970: 1_234_567_890.5)
        try file.url.setResourceValues(values)
        try #expect(tool("stat", "-c", "%.1Y", file) == "1234567890.5")
        values = URLResourceValues()
        values.contentAccessDate = Date(timeIntervalSince1970: 1_000_000_000.25)
        try file.url.setResourceValues(values)
        try #expect(tool("stat", "-c", "%.2X %.1Y", file) == "1000000000.25 1234567890.5")
    }

    @Test("permission is told as test(1) tells it")
    func access() throws {
        let root = try temporaryDirectory(isShared: true) {
            File("r").permissions(0o444)
            File("w").permissions(0o222)
            File("x").permissions(0o555)
            Directory("d").permissions(0o755)
        }
        for name in ["r", "w", "x", "d"] as [FileName] {
            let path = root.appending(name)
            var expected: [Bool] = []
            for option in ["-r", "-w", "-x"] {
                let command = Command(FilePath("/usr/bin/test"), option, path, user: 54321)
                expected.append(try command.run().exitCode == 0)
            }
            let told = try asOrdinaryUser {
                try path.url.resourceValues(forKeys: [
                    .isReadableKey, .isWritableKey, .isExecutableKey,
                ])
            }
            #expect([told.isReadable, told.isWritable, told.isExecutable] == expected)
        }
    }

    @Test("identifiers are equal for two names of a file and differ for two files")
    func identifiers() throws {
        let root = try temporaryDirectory {
            File("f"); HardLink("twin", to: "f"); File("other")
        }
        let keys: Set<Key> = [.fileResourceIdentifierKey, .volumeIdentifierKey]
        let file = try root.appending("f").url.resourceValues(forKeys: keys)
        let twin = try root.appending("twin").url.resourceValues(forKeys: keys)
        let other = try root.appending("other").url.resourceValues(forKeys: keys)
        let identifier = try #require(file.fileResourceIdentifier)
        #expect(identifier.isEqual(twin.fileResourceIdentifier))
        #expect(!identifier.isEqual(other.fileResourceIdentifier))
        let volume = try #require(file.volumeIdentifier)
        #expect(volume.isEqual(other.volumeIdentifier))
        let proc = try URL(fileURLWithPath: "/proc").resourceValues(forKeys: keys)
        #expect(!volume.isEqual(proc.volumeIdentifier))
    }
}
