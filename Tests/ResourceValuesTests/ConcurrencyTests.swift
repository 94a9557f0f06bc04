import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Writers at the same time", .cleansUp)
struct ConcurrencyTests {
    @Test("two processes setting different keys 10,000 times each lose nothing")
    func processes() async throws {
        let file = try temporaryFile()
        let answers = try await withThrowingTaskGroup { group in
            for key in ["excluded", "purgeable"] {
                group.addTask {
                    try Command(.built("test-tool"), "mark", "set-often", key, "10000", file)
                        .run().text
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == ["done\n", "done\n"])
        #expect(try file.marks() == Marks(isExcludedFromBackup: true, isPurgeable: true))
    }

    @Test("two tasks setting different keys of one open file lose nothing")
    func tasks() async throws {
        let file = try temporaryFile()
        try await withThrowingTaskGroup { group in
            for key in [StoredKey.isExcludedFromBackup, .isPurgeable] {
                group.addTask {
                    for turn in 0..<10_000 {
                        try file.setValue(.boolean(turn % 2 == 1), for: key)
                        #expect(try file.value(for: key)?.boolean == (turn % 2 == 1))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try file.marks() == Marks(isExcludedFromBackup: true, isPurgeable: true))
    }
}
