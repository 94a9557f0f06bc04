import TestSupport
import Testing

@testable import resval

@Suite("An older output of usage --json")
struct FormerUsageTests {
    private func read(_ lines: some Sequence<String>) -> FormerUsage? {
        var usage = FormerUsage()
        for line in lines where !usage.add(line.utf8) { return nil }
        return usage
    }

    @Test("directories are found below those that they are in, with and without paths")
    func directories() throws {
        let usage = try #require(
            read([
                directory("/", "100"), directory("/a", "60", depth: 1),
                directory("/a/b", "20", depth: 2), named("c", depth: 3, "15"),
                named("d", depth: 4, "5"), named("d", depth: 3, "5"),
                directory("/a/e", "30", depth: 2), directory("/f", "0", depth: 1), totals,
            ]))
        func own(_ names: String...) -> Int64? {
            var index: Int?
            for name in names {
                index = usage.index(of: Array(name.utf8), in: index)
                if index == nil { return nil }
            }
            return index.map { usage.directories[$0].own }
        }
        #expect(own("/") == 40)
        #expect(own("/", "a") == 10)
        #expect(own("/", "a", "b") == 0)
        #expect(own("/", "a", "b", "c") == 10)
        #expect(own("/", "a", "b", "c", "d") == 5)
        #expect(own("/", "a", "b", "d") == 5)
        #expect(own("/", "a", "e") == 30)
        #expect(own("/", "f") == 0)
        #expect(own("/", "b") == nil)
        #expect(usage.listsAll == true)
    }

    @Test("ROOTs stand side by side, also where the path of one begins with that of another")
    func roots() throws {
        let usage = try #require(
            read([
                directory("/a", "5"), directory("/ab", "3"), directory("/a b", "1"),
            ]))
        #expect(usage.directories.map(\.parent) == [nil, nil, nil])
        #expect(usage.directories.map(\.own) == [5, 3, 1])
    }

    @Test(
        "what cannot be is refused",
        arguments: [
            [directory("/a", "-1")],
            [directory("/a", "9223372036854775808")],
            [directory("/a", "1e3")],
            [directory("/a", "null")],
            // Together the directories are larger than the one that they are in.
            [
                directory("/a", "10"), directory("/a/b", "6", depth: 1),
                directory("/a/c", "5", depth: 1),
            ],
            [
                directory("/a", maximum), directory("/a/b", maximum, depth: 1),
                directory("/a/c", maximum, depth: 1),
            ],
            // Values are missing.
            [#"{"version":1,"type":"directory","path":"/a","depth":0}"#],
            [#"{"version":1,"type":"directory","path":"/a","allocatedBytes":1}"#],
            [#"{"version":1,"type":"directory","allocatedBytes":1}"#],
            [#"{"version":1,"type":"directory","name":"a","allocatedBytes":1}"#],
            [#"{"version":1,"type":"totals","listsAll":true}"#],
            [#"{"version":1,"type":"totals","isPartial":false}"#],
            [#"{"type":"class"}"#],
            [#"{"version":1,"type":"change","path":"/a","allocatedBytes":1}"#],
            // A directory is listed twice, or in none.
            [directory("/a", "1"), directory("/a", "1")],
            [directory("/a", "1"), named("b", depth: 1), named("b", depth: 1)],
            [named("b", depth: 0)],
            [named("b", depth: 1)],
            [directory("/a", "1"), named("b", depth: 2)],
            [directory("/a", "1"), directory("/a/b", "1", depth: 2)],
            [directory("/a/b", "1", depth: 1)],
            // Names lead down only.
            [directory("/a", "1"), named("..", depth: 1)],
            [directory("/a", "1"), named(".", depth: 1)],
            [directory("/a", "1"), named("", depth: 1)],
            [directory("/a", "1"), named("b/c", depth: 1)],
            [directory("/a", "1"), named(#"b\u0000"#, depth: 1)],
            [directory("/a/../b", "1")],
            [directory("a", "1")],
            [totals, totals],
        ])
    func refused(lines: [String]) {
        #expect(read(lines) == nil)
        // The last line is what is wrong.
        #expect(read(lines.dropLast()) != nil)
    }

    @Test("the largest sums are read")
    func largestSums() throws {
        let usage = try #require(
            read([
                directory("/a", maximum), directory("/a/b", maximum, depth: 1),
            ]))
        #expect(usage.directories.map(\.own) == [0, .max])
    }
}

private func directory(_ path: String, _ allocated: String, depth: Int = 0) -> String {
    #"{"version":1,"type":"directory","path":"\#(path)","depth":\#(depth),"#
        + #""allocatedBytes":\#(allocated)}"#
}

private func named(_ name: String, depth: Int, _ allocated: String = "0") -> String {
    #"{"version":1,"type":"directory","depth":\#(depth),"name":"\#(name)","#
        + #""allocatedBytes":\#(allocated)}"#
}

private let totals = #"{"version":1,"type":"totals","listsAll":true,"isPartial":false}"#
private let maximum = "9223372036854775807"
