import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Samples that ask for space, or clean up when there is little, on filesystems of known size.
@Suite("The storage guides: space")
struct StorageGuideSpaceTests {
    @Test("essential and optional files are weighed against the capacity for their use")
    func capacity() throws {
        try withFilesystem(.ext4) { filesystem in
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
    }

    @Test("a photo is saved while there is space, and then the user is told")
    func usage() throws {
        try withFilesystem(.ext4) { filesystem in
            let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
            let photo = filesystem.root.appending("Documents/photo.jpg")
            try #expect(guide.run("usage") == [])
            try #expect(contentsOfFile(photo) == Array(repeating: 1, count: 3000))
            try tool("rm", photo)
            try filesystem.root.fillFilesystem()
            try #expect(guide.run("usage") == ["low storage"])
            #expect(!photo.exists)
        }
    }

    @Test("clean-up begins below 100 MiB, and a cache makes room below 200 MB")
    func thresholds() throws {
        for (size, isShort) in [(Int64(32 << 20), true), (512 << 20, false)] {
            try withFilesystem(.ext4, size: size) { filesystem in
                let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
                try #expect(guide.run("check-cleanup") == (isShort ? ["cleaning up"] : []))
                try #expect(
                    guide.run("cache-manager", "key", "value")
                        == (isShort ? ["cleaning up to 100000000 bytes"] : []))
                try #expect(filesystem.root.appending(".cache/key").text == "value")
            }
        }
    }

    @Test("below a tenth of the volume the oldest hundred cache files go, before that none")
    func monitor() throws {
        try withFilesystem(.ext4) { filesystem in
            let guide = try StorageGuide(home: filesystem.root, temporary: "/tmp")
            let caches = filesystem.root.appending(".cache")
            try Tree {
                for number in 1...102 {
                    File(FileName(Array("\(number)".utf8)))
                        .modified(FileTime(seconds: 1_000_000 - Int64(number), nanoseconds: 0))
                }
            }.create(in: caches)
            try #expect(guide.run("monitor") == [])
            try #expect(entryCount(caches) == 102)
            try filesystem.root.fillFilesystem()
            try #expect(guide.run("monitor") == ["⚠️ Low storage detected, cleaning up..."])
            try #expect(tool("ls", caches) == "1\n2")
        }
    }

    @Test("optional content is downloaded while it fits, and else skipped")
    func optionalDownload() throws {
        try withFilesystem(.ext4) { filesystem in
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
            try #expect(
                guide.run(serving: served, "download-optional", "\(limit - 1)", "{}/map") == [])
            try #expect(map.text == "tiles")
        }
    }
}
