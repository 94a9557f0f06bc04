import SystemPackage
import TestSupport
import Testing

@Suite("Manual pages", .cleansUp)
struct ManualTests {
    private func read(_ root: FilePath, _ words: String...) throws -> String {
        return try Command(
            try #require(FilePath.tool("man")), arguments: words,
            environment: [
                "MANPATH": root.appending("man").string, "MANWIDTH": "80", "LC_ALL": "C.UTF-8",
            ]
        ).runSuccessfully()
    }

    @Test("there is one for each program and command, with every section once")
    func pages() throws {
        try require(.tool("man"))
        let root = try temporaryDirectory(containing: Tree { Directory("man") }, isShared: true)
        // With a copy of the scripts.
        try tool("cp", "-R", packageRoot.appending("scripts"), root)
        let pages = try tool(
            "bash", root.appending("scripts/generate-manuals"), "--executables",
            FilePath.built("resval").removingLastComponent()
        ).split(separator: "\n").compactMap { FilePath(String($0)).stem }
        try tool("cp", "-R", root.appending(".build/manuals"), root.appending("man/man1"))
        try tool("chmod", "-R", "a+rX", root)
        let names = Set(pages)
        #expect(names.count == pages.count)
        for program in ["resval", "resval-backup", "resval-purge"] {
            #expect(names.contains(program))
            for command in try completions(of: program, "") where command != "help" {
                #expect(names.contains("\(program)-\(command)"))
            }
        }
        #expect(!names.contains("resval-help"))
        try #expect(read(root, "resval", "set") == read(root, "resval-set"))
        try #expect(read(root, "resval", "backup").hasPrefix("RESVAL-BACKUP(1)"))
        for name in names {
            let page = try read(root, name)
            #expect(page.hasPrefix("\(name.uppercased())(1)"))
            let lines = page.split(separator: "\n")
            let titles = lines.filter { $0.first?.isLetter == true }.dropFirst().dropLast()
            #expect(Set(titles).count == titles.count, "\(name): \(titles)")
            for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"] {
                #expect(titles.contains { $0 == title }, "\(name): \(title)")
            }
            #expect(!lines.contains { $0.contains("EXIT CODES") }, "\(name)")
        }
    }

    @Test("resval-json(5) is shown without a warning")
    func formats() throws {
        let page = packageRoot.appending("scripts/installed/resval-json.5")
        let man = try #require(FilePath.tool("man"))
        let shown = try Command(man, "--warnings", "--local-file", page).run()
        #expect(shown.exitCode == 0 && shown.errorText == "", "\(shown)")
    }
}
