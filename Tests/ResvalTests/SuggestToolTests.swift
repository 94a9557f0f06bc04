import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Suggestions of what the real tools make", .cleansUp)
struct SuggestToolTests: SuggestSuite {
    /// Tools that are here, each with a script that has it make a directory, and that directory.
    private static let tools: [(tool: String, script: String, directory: String)] = [
        ("python3", "python3 -m venv --without-pip .venv", ".venv"),
        ("python3", "echo pass > m.py && python3 -m py_compile m.py", "__pycache__"),
        ("swift", "swift package init -q --type empty && swift package resolve", ".build"),
        ("cargo", "cargo init -q --vcs none . && cargo build -q --offline", "target"),
        (
            "npm",
            """
            mkdir d; echo '{"name":"d","version":"1.0.0"}' > d/package.json
            echo '{"dependencies":{"d":"file:d"}}' > package.json
            npm install --silent --no-audit --no-fund --offline
            """, "node_modules"
        ),
        ("cmake", "echo 'project(p NONE)' > CMakeLists.txt && cmake -S . -B build", "build"),
    ].filter { FilePath.tool($0.tool) != nil }

    @Test("what the real tools make is found, and what git tracks of it is not", arguments: tools)
    func realTools(_ tool: String, _ script: String, _ directory: String) throws {
        try require(.tool("git"), .tool("python3"))
        let root = try temporaryDirectory {
            Directory("p"); Directory("home")
        }
        func shell(_ script: String) throws {
            var command = Command("/bin/sh", "-ec", script)
            command.workingDirectory = root.appending("p")
            command.environment = [
                "HOME": root.appending("home").string, "RUSTUP_HOME": rustupHome,
            ]
            command.timeout = .seconds(600)
            try command.runSuccessfully()
        }
        try shell(script)
        let found = try run("suggest", "-0", "p", in: root)
        #expect(found.records == [Array("p/\(directory)".utf8)], "\(found)")
        try shell("git init -q && git add -f -- '\(directory)'")
        expect(try run("suggest", "-0", "p", in: root), exits: 0)
    }

    /// The directory with the toolchains of a cargo that rustup installed; nil for another cargo.
    private var rustupHome: String? {
        guard let cargo = FilePath.tool("cargo") else { return nil }
        let home = cargo.removingLastComponent().removingLastComponent().removingLastComponent()
        let toolchains = home.appending(".rustup")
        return (try? toolchains.status()) == nil ? nil : toolchains.string
    }
}
