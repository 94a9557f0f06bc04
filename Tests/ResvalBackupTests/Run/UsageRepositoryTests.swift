import SystemPackage
import TestSupport
import Testing

/// What `resval` says of a repository in a home is what `resval-backup` does with it.
@Suite("A repository inside a SOURCE", .cleansUp)
struct UsageRepositoryTests {
    private static let tree = Tree {
        File("home/repository/data/pack", [UInt8](repeating: 1, count: 300_000))
        File("home/work/file", [UInt8](repeating: 1, count: 20_000))
    }

    /// How a repository is named: settings, and the variable.
    private static let names: [(settings: String?, variable: String?, isFound: Bool)] = [
        (nil, nil, false),
        (nil, "HOME/repository", true),
        (nil, "local:HOME/repository", true),
        (nil, "repository", true),
        (nil, "sftp:host:HOME/repository", false),
        ("sources = [\"~\"]\nrepository = \"~/repository\"\n", nil, true),
        ("sources = [\"~\"]\nrepository = 'HOME/repository' # not \"HOME/work\"\n", nil, true),
        // The variable counts before the settings.
        ("sources = [\"~\"]\nrepository = \"~/repository\"\n", "/nowhere", false),
    ]

    @Test("usage, audit and a plan agree", arguments: names)
    func agreement(settings: String?, variable: String?, isFound: Bool) throws {
        try require(.tool("jq"))
        let root = try temporaryDirectory(containing: Self.tree)
        let home = root.appending("home")
        func expanded(_ text: String) -> String {
            text.replacing("HOME", with: home.string)
        }
        if let settings {
            try Tree { File("settings/resval/backup.toml", expanded(settings)) }.create(in: root)
        }
        func run(_ program: String, _ arguments: String..., filter: String) throws -> [String] {
            let result = try Command(
                .built(program), arguments: arguments, in: home,
                environment: [
                    "HOME": home.string, "XDG_CONFIG_HOME": root.appending("settings").string,
                    "RESVAL_BACKUP_REPOSITORY": variable.map(expanded),
                ]
            ).run()
            #expect(result.exitCode == 0 || result.exitCode == 1, "\(result)")
            return try Command(
                try #require(FilePath.tool("jq")), "-r", filter, input: result.output
            ).runSuccessfully().replacing(home.string, with: "HOME")
                .split(separator: "\n").map(String.init)
        }
        // Without the password the plan is not compared with a snapshot, which is an error.
        let plan = try run(
            "resval-backup", "plan", "--json", ".",
            filter: #"select(.isStored and .kind == "file") | "\(.size) \(.path)""#)
        let stored = ["20000 HOME/work/file", "300000 HOME/repository/data/pack"]
        #expect(plan.sorted() == Array(stored.prefix(isFound ? 1 : 2)))
        let classes = try run(
            "resval", "usage", "--json", "--source", ".", ".",
            filter: #"""
                select(.type == "class" and .apparentBytes > 0)
                | "\(.exclusion) \(.apparentBytes)"
                """#)
        #expect(classes == (isFound ? ["repository 300000", "null 20000"] : ["null 320000"]))
        let large = try run(
            "resval", "audit", "--json", "--larger-than", "10K", "--source", ".", ".",
            filter: #"select(.type == "finding") | "\(.finding) \(.path)""#)
        let found = ["large HOME/repository/data/pack", "large HOME/work/file"]
        #expect(large == Array(found.suffix(isFound ? 1 : 2)))
    }
}
