import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing
import UsageReporting

@Suite("The order of everything makes no difference to sums", .cleansUp)
struct OrderTests {
    /// Files by their sizes, with all their names. `d` is not measured.
    private static let files: [Int: [String]] = [
        10_000: ["a/single"],
        20_000: ["a/x", "a/deep/x", "a/deep/er/x"],
        30_000: ["a/deep/y", "b/y"],
        40_000: ["b/1/z", "b/2/z", "c/z"],
        50_000: ["c/outside", "d/outside"],
        60_000: ["c/p/v", "c/p/w", "a/w"],
        70_000: ["b/1/both", "b/2/both"],
    ]

    /// Makes the files in an order of its own.
    private func make(in root: FilePath, _ order: inout SeededNumbers) throws {
        let names = Self.files.flatMap { size, names in names.map { (size, $0) } }
        var script = "set -e; cd \"$1\"\n"
        var first: [Int: String] = [:]
        for directory in ["a/deep/er", "b/1", "b/2", "c/p", "c/q", "d", "a"].shuffled(using: &order)
        {
            script += "mkdir -p \(directory)\n"
        }
        for (size, name) in names.shuffled(using: &order) {
            if let first = first[size] {
                script += "ln \(first) \(name)\n"
            } else {
                script += "head -c \(size) /dev/zero > \(name)\n"
                first[size] = name
            }
        }
        try tool("sh", "-c", script, "sh", root)
        try root.appending("b").setValue(true, for: .isExcludedFromBackup)
        try root.appending("c").setValue(true, for: .isPurgeable)
        try root.appending("a/deep").setValue(.protection(.complete), for: .fileProtection)
    }

    /// What a report says, with paths below a directory.
    private func answer(_ report: UsageReport, below base: FilePath) -> [String: [Int64]] {
        var answer: [String: [Int64]] = [:]
        for (value, amount) in report.amounts(by: \.self) {
            answer["\(value)"] = [amount.allocated, amount.apparent]
        }
        var waiting = [report.total]
        while let next = waiting.popLast() {
            waiting += next.children
            answer[next.path.string.replacing(base.string, with: "")] =
                [
                    next.allocated, next.apparent, next.freed, next.excluded, next.sharedBelow,
                    next.fileCount,
                ] + UsageFate.allCases.map { next.allocated($0) }
        }
        return answer
    }

    @Test("twenty orders of ROOTs, directories and names, and of threads, give one answer")
    func shuffled() throws {
        let filesystem = try filesystem(.tmpfs)
        var expected: [String: [Int64]]?
        for round in 0..<20 {
            var order = SeededNumbers(seed: UInt64(round))
            let base = filesystem.root.appending("\(round)")
            try tool("mkdir", base)
            try make(in: base, &order)
            let roots = ["a", "b", "c", "a/deep", "c/p"].shuffled(using: &order)
            let report = try measure(roots.map { base.appending($0) }, threads: 1 + round % 8)
            let found = answer(report, below: base)
            #expect(found == expected ?? found, "\(roots)")
            try #expect(
                report.total.allocated
                    == diskUsage(
                        base.appending("a"), base.appending("b"), base.appending("c")))
            expected = found
        }
        // What has a name outside of the ROOTs is not freed.
        let total = try #require(expected?[""])
        #expect(total[0] - total[2] == 53_248)
    }
}
