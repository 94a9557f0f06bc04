import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("Paths of stored items")
struct StoredPathsTests {
    private func sorted(_ runs: [[String]], spilled: [[String]], in base: FilePath) throws
        -> [String]
    {
        let paths = StoredPaths(spillingTo: base)
        func run(_ names: [String]) -> [UInt8] {
            let run = PathRun()
            for name in names { run.append(Array(name.utf8)) }
            return run.sorted()
        }
        for names in spilled { paths.spill(run(names)) }
        for names in runs { paths.keep(run(names)) }
        var bytes: [UInt8] = []
        try paths.forEachPiece { bytes += $0 }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("come with each directory directly before all that is in it")
    func order() throws {
        try withTemporaryDirectory { base in
            let sorted = try sorted(
                [["/a/b", "/a-b", "/a"], ["/a/b/c", "/a\u{1}", "/a.d/x"]],
                spilled: [["/b", "/a/b-", "/a.d"]], in: base)
            #expect(
                sorted == [
                    "/a", "/a/b", "/a/b/c", "/a/b-", "/a\u{1}", "/a-b", "/a.d", "/a.d/x", "/b",
                ])
        }
    }

    @Test("are all there, in order, when most of them had to wait in a file")
    func many() throws {
        try withTemporaryDirectory { base in
            let names = (0..<12000).map { "/directory/\($0 * 7919 % 12000)/\($0)" }
            let runs = stride(from: 0, to: names.count, by: 1000).map {
                Array(names[$0..<($0 + 1000)])
            }
            let sorted = try sorted([runs[0]], spilled: Array(runs.dropFirst()), in: base)
            #expect(sorted == names.sorted { order($0) < order($1) })
            #expect(try pathsBelow(base).isEmpty)
        }
    }

    private func order(_ path: String) -> String { path.replacing("/", with: "\u{1}") }

    @Test("that cannot be put aside are an error")
    func noRoom() throws {
        try withFilesystem(.tmpfs, options: ["size=32k"]) { filesystem in
            let names = (0..<5000).map { "/directory/\($0)" }
            let error = #expect(throws: FileError.self) {
                try sorted([], spilled: [names], in: filesystem.root)
            }
            #expect(error?.code == .noSpace)
        }
    }

    @Test("that hold every byte a name can have come back as they were")
    func bytes() throws {
        try withTemporaryDirectory { base in
            let path = [UInt8](1...255)
            let run = PathRun()
            run.append(path)
            let paths = StoredPaths(spillingTo: base)
            paths.spill(run.sorted())
            var bytes: [UInt8] = []
            try paths.forEachPiece { bytes += $0 }
            #expect(bytes == path + [0])
        }
    }
}
