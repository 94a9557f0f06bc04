import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Samples that store, mark, measure and remove files.
@Suite("The storage guides: files")
struct StorageGuideFileTests {
    @Test("a podcast is stored and excluded, whether it comes from a file or a server")
    func podcast() throws {
        try withGuide { guide, home in
            try Tree {
                Directory("served") {
                    File("1.mp3", "one"); File("2.mp3", "two")
                }
            }
            .create(in: home)
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
    }

    @Test("media are downloaded, kept in application support, and excluded")
    func media() throws {
        try withGuide { guide, home in
            try Tree { Directory("served") { File("film", "frames") } }.create(in: home)
            try tool("mkdir", home.appending(".local/share/Downloads"))
            try guide.run(serving: home.appending("served"), "media", "{}/film")
            let film = home.appending(".local/share/Downloads/film")
            try #expect(film.text == "frames")
            try #expect(film.marks() == Marks(isExcludedFromBackup: true))
        }
    }

    @Test("what a download task has stored is moved to the caches")
    func downloadTask() throws {
        try withGuide { guide, home in
            try Tree { Directory("served") { File("film", "frames") } }.create(in: home)
            try #expect(
                guide.run(serving: home.appending("served"), "download-task", "{}/film")
                    == ["done"])
            let file = try tool("find", home.appending(".cache"), "-type", "f")
            try #expect(FilePath(file).text == "frames")
            try #expect(entryCount(home.appending("tmp")) == 0)
        }
    }

    @Test("a thumbnail is purgeable and excluded; one that was not stored is an error")
    func thumbnail() throws {
        try withGuide { guide, home in
            try guide.run("thumbnail", "/photos/1.png", "pixels")
            let thumbnail = home.appending(".cache/1.png")
            try #expect(thumbnail.text == "pixels")
            try #expect(
                thumbnail.marks()
                    == Marks(isExcludedFromBackup: true, isPurgeable: true))
            try #expect(guide.fail("thumbnail", "/photos/2.png") == ["failed: CocoaError 4"])
            #expect(!home.appending(".cache/2.png").exists)
        }
    }

    @Test("each priority has its location, and what is cached is excluded")
    func priority() throws {
        try withGuide { guide, home in
            try guide.run("priority", "text")
            let marks = [
                "Documents/important.dat": nil, ".cache/cache.dat": true, "tmp/temp.dat": nil,
            ]
            for (path, isExcluded) in marks {
                let file = home.appending(path)
                try #expect(file.text == "text")
                try #expect(file.isExcludedFromBackup == isExcluded)
            }
        }
    }

    @Test("sizes are the blocks that stat counts")
    func sizes() throws {
        let tree = Tree {
            Directory("d") {
                File("a", Array(repeating: 1, count: 1_234_567))
                Directory("e") {
                    File("b", "b"); SparseFile("c", hole: 5_000_000, data: "c")
                }
            }
        }
        try withGuide(containing: tree) { guide, home in
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
    }

    @Test("the audit names large files, and asks about those that are backed up")
    func audit() throws {
        try withGuide { guide, home in
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
    }

    @Test("expired files go first, then the oldest until the rest fits; hidden ones stay")
    func cleaner() throws {
        let now = FileTime.now.seconds
        func file(_ name: FileName, age: Int64) -> some TreeItem {
            SparseFile(name, hole: 200 << 20)
                .modified(FileTime(seconds: now - age, nanoseconds: 0))
        }
        try withGuide { guide, home in
            let caches = home.appending(".cache")
            try Tree {
                file("expired", age: 8 * 86400)
                file(".hidden", age: 8 * 86400)
                for day in 1...4 {
                    file(FileName(Array("day \(day)".utf8)), age: Int64(day) * 86400)
                }
            }.create(in: caches)
            try guide.run("cleaner")
            try #expect(tool("ls", "-A", caches) == ".hidden\nday 1\nday 2")
        }
    }
}
