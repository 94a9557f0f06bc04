import Eviction
import SystemPackage
import Testing

@testable import BackupEngines

@Suite("What is read in one pass")
struct ContentBatchTests {
    private func kept(_ path: String, _ size: Int64 = 100) -> KeptFile {
        var file = KeptFile()
        file.path = Array(path.utf8)
        file.size = size
        return file
    }

    private func batches(_ wanted: [String], _ kept: [KeptFile]) -> [String: Set<String>] {
        let batches = ContentBatch.batches(of: Set(wanted.map { Array($0.utf8) }), among: kept)
        return Dictionary(
            uniqueKeysWithValues: batches.map { batch in
                ("\(batch.directory)", Set(batch.files.map { String(decoding: $0, as: UTF8.self) }))
            })
    }

    @Test("all files of a snapshot are one batch, in whatever directories")
    func whole() {
        let paths = ["/a/b/c", "/a/d", "/e/f"]
        #expect(batches(paths, paths.map { kept($0, 1 << 40) }) == ["/": Set(paths)])
        #expect(batches([], paths.map { kept($0) }) == [:])
    }

    @Test("a large file that is not wanted is not read")
    func unwanted() {
        let large = kept("/home/large", 1 << 40)
        let files = ["/home/a/1", "/home/a/2", "/home/b"].map { kept($0) } + [large]
        #expect(
            batches(["/home/a/1", "/home/a/2", "/home/b"], files)
                == ["/home/a": ["/home/a/1", "/home/a/2"], "/home/b": ["/home/b"]])
        #expect(batches(["/home/b"], files) == ["/home/b": ["/home/b"]])
    }

    @Test("what is cheaper to read than to avoid is read")
    func cheap() {
        let files = (1...9).map { kept("/d/\($0)", 1 << 20) }
        #expect(batches(["/d/1", "/d/9"], files) == ["/": ["/d/1", "/d/9"]])
        let more = files + [kept("/d/large", ContentBatch.allowance)]
        #expect(batches(["/d/1", "/d/9"], more) == ["/d/1": ["/d/1"], "/d/9": ["/d/9"]])
    }

    @Test("paths that no directory can have do no harm")
    func nonsense() {
        let large = Int64.max
        let files = ["", "/", "//", "/a", "/a", "/a/", "/a/b", "a/b", "/a//b"].map {
            kept($0, $0 == "/a/b" ? large : -1)
        }
        let wanted = ["", "/", "//", "/a", "/a/", "a/b", "/a//b"]
        let found = ContentBatch.batches(of: Set(wanted.map { Array($0.utf8) }), among: files)
        #expect(Set(found.flatMap(\.files)) == Set(wanted.map { Array($0.utf8) }))
    }
}
