import Glibc
import SystemCalls
import SystemPackage
import TestSupport

/// The tables, on the page of the tools, of what each tool did with each hostile name.
struct ToolTable {
    /// The tables between the page's two comments.
    let text: String

    private static let begin = "<!-- Written by scripts/generate-tool-table. -->\n"
    private static let end = "<!-- End of what scripts/generate-tool-table writes. -->\n"

    init(tools: [ListTool], outcomes: [ListOutcome]) {
        func table(_ title: String, _ answers: (ListOutcome) -> [ListOutcome.Answer]) -> String {
            var lines = ["| \(title) | " + tools.map(\.name).joined(separator: " | ") + " |"]
            lines.append(String(repeating: "| --- ", count: tools.count + 1) + "|")
            for (index, label) in HostileTree.labels.enumerated() {
                let cells = outcomes.map { answers($0)[index].rawValue }
                lines.append("| \(label) | " + cells.joined(separator: " | ") + " |")
            }
            return lines.joined(separator: "\n") + "\n"
        }
        text =
            "\n" + table("a stored item named", \.storing) + "\n"
            + table("an excluded item named", \.leavingOut) + "\n"
    }

    /// Whether the page is to be written rather than compared.
    var isToBeWritten: Bool { getenv("RESVAL_TEST_TABLES") != nil }

    /// What the page holds now.
    func written() throws -> String {
        let page = String(decoding: try contentsOfFile(Self.page), as: UTF8.self)
        guard let begin = page.firstRange(of: Self.begin), let end = page.firstRange(of: Self.end)
        else { return page }
        return String(page[begin.upperBound..<end.lowerBound])
    }

    /// Puts the tables into the page.
    func write() throws {
        let page = String(decoding: try contentsOfFile(Self.page), as: UTF8.self)
        guard let begin = page.firstRange(of: Self.begin), let end = page.firstRange(of: Self.end)
        else { throw FixtureMissing(description: "\(Self.page) has no place for the tables") }
        let bytes = Array((page[..<begin.upperBound] + text + page[end.lowerBound...]).utf8)
        let file = try openFile(
            in: .workingDirectory, Self.page, flags: [.writeOnly, .truncate], permissions: 0)
        defer { close(file.rawValue) }
        try bytes.withUnsafeBytes { try writeFile(file, $0) }
    }

    private struct FixtureMissing: Error, CustomStringConvertible { let description: String }

    private static let page = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().removingLastComponent()
        .pushing("Sources/ResourceValues/ResourceValues.docc/BackupTools.md")
}
