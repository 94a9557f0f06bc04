import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Samples of exclusion, protection classes and directories.
@Suite("The storage guides: marks and directories")
struct StorageGuideMarkTests {
    @Test("a cache is excluded as a whole, and a missing one is an error")
    func exclude() throws {
        try withGuide { guide, home in
            try #expect(guide.fail("exclude", home) == ["failed: CocoaError 4"])
            try Tree { Directory("video-cache") }.create(in: home)
            try guide.run("exclude", home)
            try #expect(
                home.appending("video-cache").marks()
                    == Marks(isExcludedFromBackup: true))
        }
    }

    @Test("both checks of exclusion read the mark; of a missing file only one of them reports")
    func checks() throws {
        let tree = Tree {
            File("plain"); File("excluded").excluded(); File("included").excluded(false)
        }
        try withGuide(containing: tree) { guide, home in
            let files = ["plain", "excluded", "included"].map { home.appending($0) }
            try #expect(
                guide.run("is-excluded", files[0], files[1], files[2])
                    == ["false false", "true true", "false false"])
            try #expect(
                guide.fail("is-excluded", home.appending("missing"))
                    == ["false failed: CocoaError 260"])
        }
    }

    @Test("offline data are stored in a directory that is excluded")
    func offline() throws {
        try withGuide { guide, home in
            try guide.run("offline", home.appending("new"))
            let directory = home.appending("new/OfflineData")
            try #expect(directory.marks() == Marks(isExcludedFromBackup: true))
            try #expect(directory.appending("map-tiles.db").text == "tiles")
            // Again, as at each start of an app.
            try guide.run("offline", home.appending("new"))
        }
    }

    @Test("a file and a directory have the class that they are created with")
    func protection() throws {
        try withGuide { guide, home in
            let (file, directory) = (home.appending("file"), home.appending("a/b"))
            let line = "保护级别:URLFileProtection(rawValue: \"NSURLFileProtectionComplete\")"
            try #expect(guide.run("protection", file, directory) == [line[...], line[...]])
            for path in [file, directory] {
                try #expect(path.fileProtection == .complete)
            }
            try #expect(file.text == "secret")
            // A directory cannot be created where a file is.
            try #expect(guide.fail("protection", home.appending("new"), file).count == 1)
        }
    }

    @Test("a class is set afterwards as well, and new files take that of their directory")
    func protectionOptions() throws {
        try withGuide(containing: Tree { Directory("d") { File("old") } }) { guide, home in
            let (file, directory) = (home.appending("file"), home.appending("d"))
            try guide.run("protection-options", file, directory)
            for path in [file, directory, directory.appending("new")] {
                try #expect(path.fileProtection == .complete)
            }
            try #expect(directory.appending("old").fileProtection == nil)
        }
    }

    @Test("each class is matched in a switch; a file without one has no class")
    func protectionSwitch() throws {
        let tree = Tree {
            File("1").protection(.complete)
            File("2").protection(.completeUnlessOpen)
            File("3").protection(.completeUntilFirstUserAuthentication)
            File("4").protection(.none)
            File("5")
        }
        try withGuide(containing: tree) { guide, home in
            let files = (1...5).map { home.appending("\($0)") }
            try #expect(
                guide.run(
                    "protection-switch", files[0], files[1], files[2], files[3], files[4]) == [
                        "File is fully protected", "Protected unless already open",
                        "Protected until first unlock (default)", "No encryption",
                    ])
        }
    }

    @Test("directories are the XDG locations, and application support is made")
    func directories() throws {
        try withGuide { guide, home in
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
    }
}
