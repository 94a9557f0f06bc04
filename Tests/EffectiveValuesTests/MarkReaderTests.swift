import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@Suite("Marks of other programs on disk", .cleansUp)
struct MarkReaderTests {
    private let everything = Set(Marker.allCases)

    @Test("Apple's attribute counts under each of its names, whatever its value")
    func apple() throws {
        for attribute in ForeignAttribute.apple.dropLast() {
            let root = try temporaryDirectory {
                File("f").attribute(attribute, [0x62, 0x70, 0x00, 0xFF])
                Directory("d").attribute(attribute, "")
            }
            for (name, kind) in [("f", FileKind.regularFile), ("d", .directory)] {
                let item = root.appending(name)
                let marks = try MarkReader().marks(of: item, kind: kind)
                #expect(marks.foreign == ForeignMarks(excluding: [.apple]), "\(attribute)")
                try #expect(MarkReader([.native, .xdg]).marks(of: item, kind: kind) == .none)
            }
        }
    }

    @Test(
        "the xdg attribute excludes with false, includes with true, and else means nothing",
        arguments: [
            ("false", ForeignMarks(excluding: [.xdg])),
            ("false\n", ForeignMarks(excluding: [.xdg])),
            ("true", ForeignMarks(including: [.xdg])),
            ("true\u{0}", ForeignMarks(including: [.xdg])),
            ("False", meaningless("'False'")), ("", meaningless("''")), ("no", meaningless("'no'")),
            ("false ", meaningless("'false '")), ("false\n\n", meaningless(#"$'false\n'"#)),
        ])
    func xdg(value: String, expected: ForeignMarks) throws {
        let root = try temporaryDirectory { File("f").attribute(ForeignAttribute.xdg, value) }
        let marks = try MarkReader().marks(of: root.appending("f"), kind: .regularFile)
        #expect(marks.foreign == expected)
    }

    private static func meaningless(_ text: String) -> ForeignMarks {
        ForeignMarks(uncertain: [.xdg: "its value \(text) is neither true nor false"])
    }

    @Test("the attributes of Duplicati and Duplicacy count where they were chosen")
    func otherPrograms() throws {
        let root = try temporaryDirectory {
            File("duplicati").attribute("user.duplicati.exclude", "")
            Directory("duplicacy").attribute("user.duplicacy_exclude", "0")
            File("dropbox").attribute("user.com.dropbox.ignored", "1")
        }
        func found(_ name: String, _ reader: MarkReader) throws -> Set<Marker> {
            let kind: FileKind = name == "duplicacy" ? .directory : .regularFile
            let path = root.appending(name)
            return try reader.marks(of: path, kind: kind).foreign.excluding
        }
        let reader = MarkReader([.duplicati, .duplicacy])
        try #expect(found("duplicati", reader) == [.duplicati])
        try #expect(found("duplicacy", reader) == [.duplicacy])
        try #expect(found("dropbox", MarkReader(everything)) == [])
        for name in ["duplicati", "duplicacy"] {
            try #expect(found(name, MarkReader()) == [])
        }
    }

    @Test("the nodump flag counts only where it was chosen")
    func nodump() throws {
        try require(.tool("chattr"))
        let file = try temporaryFile()
        try tool("chattr", "+d", file)
        let chosen = MarkReader([.nodump])
        try #expect(chosen.marks(of: file, kind: .regularFile).foreign.excluding == [.nodump])
        let status = try file.status()
        try #expect(
            chosen.marks(of: file, kind: .regularFile, status: status).foreign.excluding
                == [.nodump])
        try #expect(MarkReader().marks(of: file, kind: .regularFile) == .none)
    }

    @Test("CACHEDIR.TAG counts with its signature, as a regular file, in its directory alone")
    func cacheDirectory() throws {
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        let root = try temporaryDirectory {
            File("cache/CACHEDIR.TAG", signature + "\n# made by a test\n")
            Directory("cache/below")
            Directory("short") { File("CACHEDIR.TAG", String(signature.dropLast())) }
            Directory("wrong") { File("CACHEDIR.TAG", signature.replacing("8a", with: "8A")) }
            Directory("link") { SymbolicLink("CACHEDIR.TAG", to: "../cache/CACHEDIR.TAG") }
            Directory("fifo") { Fifo("CACHEDIR.TAG") }
            Directory("directory") { Directory("CACHEDIR.TAG") }
            SymbolicLink("to cache", to: "cache")
        }
        let reader = MarkReader([.cachedir])
        for name in ["cache", "short", "wrong", "link", "fifo", "directory", "cache/below"] {
            let marks = try reader.marks(of: root.appending(name), kind: .directory)
            let expected: Set<Marker> = name == "cache" ? [.cachedir] : []
            #expect(marks.foreign.excluding == expected, "\(name)")
            let isWrong = !name.hasPrefix("cache")
            #expect((marks.foreign.uncertain[.cachedir] != nil) == isWrong, "\(name)")
        }
        let link = root.appending("to cache").withoutFollowing
        try #expect(reader.marks(of: link, kind: .directory).foreign == .none)
        try #expect(MarkReader().marks(of: root.appending("cache"), kind: .directory) == .none)
    }

    @Test(".nobackup counts whatever it is")
    func noBackup() throws {
        let root = try temporaryDirectory {
            Directory("file") { File(".nobackup") }
            Directory("link") { SymbolicLink(".nobackup", to: "nowhere") }
            Directory("none") { File("nobackup") }
        }
        let reader = MarkReader([.nobackup])
        let found = try ["file", "link", "none"].map {
            try reader.marks(of: root.appending($0), kind: .directory).foreign.excluding
        }
        #expect(found == [[.nobackup], [.nobackup], []])
    }

    @Test("marks of all programs at once, beside attributes that are none")
    func together() throws {
        let root = try temporaryDirectory {
            File("f").excluded(false).purgeable()
                .attribute(ForeignAttribute.apple[0], "x").attribute(ForeignAttribute.xdg, "true")
                .attribute("user.com.apple.metadata", "x").attribute("user.note", "x")
        }
        let marks = try MarkReader(everything).marks(of: root.appending("f"), kind: .regularFile)
        #expect(marks.native.isExcludedFromBackup == false)
        #expect(marks.native.isPurgeable == true)
        #expect(marks.foreign == ForeignMarks(excluding: [.apple], including: [.xdg]))
    }

    @Test("a marker above excludes what is below, but not the tag that says so")
    func inheritance() throws {
        let root = try temporaryDirectory {
            File("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
            File("cache/f")
            File("cache/below/CACHEDIR.TAG", "no signature")
            Directory("apple") { File("f") }.attribute(ForeignAttribute.apple[0], "x")
        }
        let reader = try EffectiveValueReader(StoragePolicy(markers: everything))
        let exclusion = { (path: String) in
            try reader.item(at: root.appending(path)).decision.exclusion
        }
        let cache = ExclusionCause.marker(.cachedir)
        try #expect(exclusion("cache").ownCause == cache)
        try #expect(exclusion("cache/f") == Effective(cache, from: root.appending("cache")))
        try #expect(exclusion("cache/CACHEDIR.TAG") == .unmarked)
        try #expect(exclusion("cache/below/CACHEDIR.TAG").cause.isExcluded)
        try #expect(exclusion("apple/f").cause == .marker(.apple))
    }
}
