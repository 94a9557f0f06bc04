import SystemPackage
import TestSupport
import Testing

@Suite("Manual pages")
struct ManualTests {
    private static let repository = FilePath(#filePath)
        .removingLastComponent().removingLastComponent().removingLastComponent()
        .removingLastComponent()

    /// Generates all pages with a copy of the scripts.
    private func withPages(_ body: (FilePath, [String]) throws -> Void) throws {
        try require(.tool("man"))
        try withTemporaryDirectory(containing: Tree { Directory("man") }, isShared: true) { root in
            try tool("cp", "-R", Self.repository.appending("scripts"), root)
            let pages = try tool(
                "bash", root.appending("scripts/generate-manuals"), "--executables",
                FilePath.built("resval").removingLastComponent())
            try tool("cp", "-R", root.appending(".build/manuals"), root.appending("man/man1"))
            try tool("chmod", "-R", "a+rX", root)
            try body(root, pages.split(separator: "\n").map(String.init))
        }
    }

    private func read(_ root: FilePath, _ words: String...) throws -> String {
        var command = Command(try #require(FilePath.tool("man")), arguments: words)
        command.environment = [
            "MANPATH": root.appending("man").string, "MANWIDTH": "80", "LC_ALL": "C.UTF-8",
        ]
        return try command.runSuccessfully()
    }

    @Test("there is one for each program and command, named as man looks for it")
    func names() throws {
        try withPages { root, pages in
            let names = Set(pages.compactMap { FilePath($0).lastComponent?.string })
            #expect(names.count == pages.count)
            for program in ["resval", "resval-backup", "resval-purge"] {
                let commands = try Command(.built(program), "__complete", "").runSuccessfully()
                    .split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
                    .filter { !$0.hasPrefix(":") && $0 != "help" }
                #expect(names.contains("\(program).1"))
                for command in commands { #expect(names.contains("\(program)-\(command).1")) }
            }
            #expect(!names.contains("resval-help.1"))
            let page = try read(root, "resval", "set")
            #expect(page.hasPrefix("RESVAL-SET(1)"))
            try #expect(read(root, "resval-set") == page)
            try #expect(read(root, "resval", "backup").hasPrefix("RESVAL-BACKUP(1)"))
            try #expect(read(root, "resval-backup", "create").hasPrefix("RESVAL-BACKUP-CREATE(1)"))
        }
    }

    @Test("each has every section once")
    func sections() throws {
        try withPages { root, pages in
            for page in pages {
                let name = try #require(FilePath(page).stem)
                let lines = try read(root, name).split(separator: "\n")
                let titles = lines.filter { $0.first?.isLetter == true }.dropFirst().dropLast()
                #expect(Set(titles).count == titles.count, "\(name): \(titles)")
                for title in [
                    "NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO",
                ] {
                    #expect(titles.contains { $0 == title }, "\(name): \(title)")
                }
                #expect(!lines.contains { $0.contains("EXIT CODES") }, "\(name)")
            }
        }
    }

    @Test("resval-json(5) is shown without a warning")
    func formats() throws {
        let page = Self.repository.appending("scripts/installed/resval-json.5")
        let man = try #require(FilePath.tool("man"))
        let shown = try Command(man, "--warnings", "--local-file", page).run()
        #expect(shown.exitCode == 0 && shown.errorText == "", "\(shown)")
    }
}
