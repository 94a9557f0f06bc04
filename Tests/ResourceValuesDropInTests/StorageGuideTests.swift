import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Samples of the storage guides", .cleansUp)
struct StorageGuideTests {
    @Test("a cache is excluded as a whole, and a missing one is an error")
    func exclude() throws {
        let (guide, home) = try guide()
        try #expect(guide.fail("exclude", home) == ["failed: CocoaError 4"])
        try Tree { Directory("video-cache") }.create(in: home)
        try guide.run("exclude", home)
        try #expect(home.appending("video-cache").marks() == Marks(isExcludedFromBackup: true))
    }

    @Test("both checks of exclusion read the mark; of a missing file only one of them reports")
    func checks() throws {
        let (guide, home) = try guide {
            File("plain"); File("excluded").excluded(); File("included").excluded(false)
        }
        let files = ["plain", "excluded", "included"].map { home.appending($0) }
        try #expect(
            guide.run("is-excluded", files[0], files[1], files[2])
                == ["false false", "true true", "false false"])
        try #expect(
            guide.fail("is-excluded", home.appending("missing"))
                == ["false failed: CocoaError 260"])
    }

    @Test("offline data are stored in a directory that is excluded")
    func offline() throws {
        let (guide, home) = try guide()
        try guide.run("offline", home.appending("new"))
        let directory = home.appending("new/OfflineData")
        try #expect(directory.marks() == Marks(isExcludedFromBackup: true))
        try #expect(directory.appending("map-tiles.db").text == "tiles")
        // Again, as at each start of an app.
        try guide.run("offline", home.appending("new"))
    }

    @Test("a class is stored at creation or afterwards, and new files take that of their directory")
    func protection() throws {
        let (guide, home) = try guide { Directory("d") { File("old") } }
        let (file, directory, old) = (
            home.appending("file"), home.appending("a/b"), home.appending("d")
        )
        let line = "保护级别:URLFileProtection(rawValue: \"NSURLFileProtectionComplete\")"
        try #expect(guide.run("protection", file, directory) == [line[...], line[...]])
        try #expect(file.text == "secret")
        // A directory cannot be created where a file is.
        try #expect(guide.fail("protection", home.appending("new"), file).count == 1)
        try guide.run("protection-options", home.appending("later"), old)
        for path in [file, directory, home.appending("later"), old, old.appending("new")] {
            try #expect(path.fileProtection == .complete, "\(path)")
        }
        try #expect(old.appending("old").fileProtection == nil)
    }

    @Test("each class is matched in a switch; a file without one has no class")
    func protectionSwitch() throws {
        let (guide, home) = try guide {
            File("1").protection(.complete)
            File("2").protection(.completeUnlessOpen)
            File("3").protection(.completeUntilFirstUserAuthentication)
            File("4").protection(.none)
            File("5")
        }
        let files = (1...5).map { home.appending("\($0)") }
        try #expect(
            guide.run(
                "protection-switch", files[0], files[1], files[2], files[3], files[4]) == [
                    "File is fully protected", "Protected unless already open",
                    "Protected until first unlock (default)", "No encryption",
                ])
    }

    @Test("directories are the XDG locations, and application support is made")
    func directories() throws {
        let (guide, home) = try guide()
        try tool("rmdir", home.appending(".local/share"))
        try #expect(
            guide.run("directories") == [
                "\(home)/Documents/Report.pdf", "\(home)/.local/share/AppData.sqlite",
                "\(home)/.cache/thumbnails/3.jpg", "\(home)/tmp",
            ])
        try #expect(home.appending("Documents/Report.pdf").text == "PDF")
        #expect(home.appending(".local/share").exists)
        #expect(!home.appending(".cache/thumbnails").exists)
    }

    @Test("a podcast is stored and excluded, whether it comes from a file or a server")
    func podcast() throws {
        let (guide, home) = try guide {
            Directory("served") {
                File("1.mp3", "one"); File("2.mp3", "two")
            }
        }
        let podcasts = home.appending(".local/share/Podcasts")
        let served = home.appending("served")
        try #expect(guide.fail("podcast", "file://\(served)/1.mp3") == ["failed: CocoaError 4"])
        #expect(!podcasts.exists)
        try tool("mkdir", podcasts)
        try guide.run("podcast", "file://\(served)/1.mp3")
        try guide.run(serving: served, "podcast", "{}/2.mp3")
        for (name, text) in [("1.mp3", "one"), ("2.mp3", "two")] {
            try #expect(podcasts.appending(name).text == text)
            try #expect(podcasts.appending(name).value(for: .isExcludedFromBackup) == true)
        }
    }

    @Test("media are kept in application support, and what a task has downloaded in the caches")
    func downloads() throws {
        let (guide, home) = try guide { Directory("served") { File("film", "frames") } }
        try tool("mkdir", home.appending(".local/share/Downloads"))
        let served = home.appending("served")
        try guide.run(serving: served, "media", "{}/film")
        let film = home.appending(".local/share/Downloads/film")
        try #expect(film.text == "frames")
        try #expect(film.marks() == Marks(isExcludedFromBackup: true))
        try #expect(guide.run(serving: served, "download-task", "{}/film") == ["done"])
        let file = try tool("find", home.appending(".cache"), "-type", "f")
        try #expect(FilePath(file).text == "frames")
        try #expect(entryCount(home.appending("tmp")) == 0)
    }

    @Test("a thumbnail is purgeable and excluded; one that was not stored is an error")
    func thumbnail() throws {
        let (guide, home) = try guide()
        try guide.run("thumbnail", "/photos/1.png", "pixels")
        let thumbnail = home.appending(".cache/1.png")
        try #expect(thumbnail.text == "pixels")
        try #expect(thumbnail.marks() == Marks(isExcludedFromBackup: true, isPurgeable: true))
        try #expect(guide.fail("thumbnail", "/photos/2.png") == ["failed: CocoaError 4"])
        #expect(!home.appending(".cache/2.png").exists)
    }

    @Test("each priority has its location, and what is cached is excluded")
    func priority() throws {
        let (guide, home) = try guide()
        try guide.run("priority", "text")
        let marks = ["Documents/important.dat": nil, ".cache/cache.dat": true, "tmp/temp.dat": nil]
        for (path, isExcluded) in marks {
            let file = home.appending(path)
            try #expect(file.text == "text")
            try #expect(file.isExcludedFromBackup == isExcluded)
        }
    }

    @Test("sizes are the blocks that stat counts")
    func sizes() throws {
        let (guide, home) = try guide {
            Directory("d") {
                File("a", Array(repeating: 1, count: 1_234_567))
                Directory("e") {
                    File("b", "b"); SparseFile("c", hole: 5_000_000, data: "c")
                }
            }
        }
        try tool("sync", "-f", home)
        let directory = home.appending("d")
        let blocks = try tool("find", directory, "-type", "f", "-printf", "%b\n")
            .split(separator: "\n").compactMap { Int($0) }
        let size = blocks.reduce(0, +) * 512
        let first = Int(try tool("stat", "-c", "%b", directory.appending("a"))).map { $0 * 512 }
        try #expect(
            guide.run("sizes", directory, directory.appending("a"), directory)
                == [
                    "Cache using \(size / 1_000_000) MB", "\(size)", "\(first ?? 0)", "-1",
                ])
    }

    @Test("the audit names large files, and asks about those that are backed up")
    func audit() throws {
        let (guide, home) = try guide()
        try #expect(guide.run("audit") == ["Documents (backed up): 0 MB"])
        let documents = home.appending("Documents")
        for (name, size) in [("film", "60M"), ("podcast", "50M"), ("note", "1M")] {
            try tool("fallocate", "-l", size, documents.appending(name))
        }
        try documents.appending("podcast").setValue(true, for: .isExcludedFromBackup)
        let lines = try guide.run("audit")
        #expect(
            lines.prefix(2) == [
                "Documents (backed up): 116 MB",
                "⚠️ Large backup size - check for re-downloadable files",
            ])
        // The files come in the directory's order.
        let film: [Substring] = [
            "Large file: film (62 MB)", "⚠️ Should this be excluded from backup?",
        ]
        let podcast: [Substring] = ["Large file: podcast (52 MB)"]
        #expect([film + podcast, podcast + film].contains(Array(lines.dropFirst(2))))
    }

    @Test("expired files go first, then the oldest until the rest fits; hidden ones stay")
    func cleaner() throws {
        let now = FileTime.now.seconds
        func file(_ name: FileName, age: Int64) -> some TreeItem {
            SparseFile(name, hole: 200 << 20)
                .modified(FileTime(seconds: now - age, nanoseconds: 0))
        }
        let (guide, home) = try guide()
        let caches = home.appending(".cache")
        try Tree {
            file("expired", age: 8 * 86400)
            file(".hidden", age: 8 * 86400)
            for day in 1...4 {
                file("day \(day)", age: Int64(day) * 86400)
            }
        }.create(in: caches)
        try guide.run("cleaner")
        try #expect(tool("ls", "-A", caches) == ".hidden\nday 1\nday 2")
    }
}

/// Samples that ask for space, or clean up when there is little, on filesystems of known size.
@Suite("Samples of the storage guides that ask for space", .cleansUp)
struct StorageGuideSpaceTests {
    @Test("essential and optional files are weighed against the capacity for their use")
    func capacity() throws {
        let filesystem = try filesystem(.ext4)
        let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
        let (total, available) = try filesystem.root.space()
        let sizes = [available - total / 10, available].flatMap { ["\($0 - 1)", "\($0)"] }
        let answers: [Substring] = ["true true", "true false", "true false", "false false"]
        for sample in ["check-space", "thresholds"] {
            try #expect(guide.run(sample, sizes[0], sizes[1], sizes[2], sizes[3]) == answers)
        }
        try #expect(
            guide.run("available", sizes[2], sizes[3]) == ["\(available)", "true", "false"])
    }

    @Test("a photo is saved while there is space, and then the user is told")
    func usage() throws {
        let filesystem = try filesystem(.ext4)
        let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
        let photo = filesystem.root.appending("Documents/photo.jpg")
        try #expect(guide.run("usage") == [])
        try #expect(contentsOfFile(photo) == Array(repeating: 1, count: 3000))
        try tool("rm", photo)
        try filesystem.root.fillFilesystem()
        try #expect(guide.run("usage") == ["low storage"])
        #expect(!photo.exists)
    }

    @Test("clean-up begins below 100 MiB, and a cache makes room below 200 MB")
    func thresholds() throws {
        for (size, isShort) in [(Int64(32 << 20), true), (512 << 20, false)] {
            let filesystem = try filesystem(.ext4, size: size)
            let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
            try #expect(guide.run("check-cleanup") == (isShort ? ["cleaning up"] : []))
            try #expect(
                guide.run("cache-manager", "key", "value")
                    == (isShort ? ["cleaning up to 100000000 bytes"] : []))
            try #expect(filesystem.root.appending(".cache/key").text == "value")
        }
    }

    @Test("below a tenth of the volume the oldest hundred cache files go, before that none")
    func monitor() throws {
        let filesystem = try filesystem(.ext4)
        let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
        let caches = filesystem.root.appending(".cache")
        try Tree {
            for number in 1...102 {
                File("\(number)")
                    .modified(FileTime(seconds: 1_000_000 - Int64(number), nanoseconds: 0))
            }
        }.create(in: caches)
        try #expect(guide.run("monitor") == [])
        try #expect(entryCount(caches) == 102)
        try filesystem.root.fillFilesystem()
        try #expect(guide.run("monitor") == ["⚠️ Low storage detected, cleaning up..."])
        try #expect(tool("ls", caches) == "1\n2")
    }

    @Test("optional content is downloaded while it fits, and else skipped")
    func optionalDownload() throws {
        let filesystem = try filesystem(.ext4)
        let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
        let served = filesystem.root.appending("served")
        try Tree { Directory("served") { File("map", "tiles") } }.create(in: filesystem.root)
        let map = filesystem.root.appending(".cache/map")
        let (total, available) = try filesystem.root.space()
        let limit = available - total / 10
        try #expect(
            guide.run(serving: served, "download-optional", "\(limit)", "{}/map")
                == ["Skipping download - low storage"])
        #expect(!map.exists)
        try #expect(guide.run(serving: served, "download-optional", "\(limit - 1)", "{}/map") == [])
        try #expect(map.text == "tiles")
    }
}
