import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Marks on / and on homes", .cleansUp)
struct HomeGuardTests {
    private let tree = Tree {
        Directory("home") { File("f") }
        SymbolicLink("link", to: "home")
    }

    private func environment(_ root: FilePath) -> [String: String?] {
        ["HOME": root.appending("home").string, "XDG_STATE_HOME": root.appending("state").string]
    }

    @Test("are refused without a terminal to ask on, whatever the path to them")
    func scripts() throws {
        let root = try temporaryDirectory(containing: tree)
        let home = root.appending("home")
        for arguments in [["exclude"], ["purgeable"], ["set", "excluded=true"]] {
            for path in ["home", "./link/", "\(home)/../home"] {
                let command = Command(
                    .built("resval"), arguments: arguments + [path, "home/f"], in: root,
                    environment: environment(root))
                expect(
                    try command.run(), exits: 2,
                    complains: """
                        resval: \(path): is a home: a mark on it counts for everything in it \
                        (give --yes to change it)

                        """)
                try #expect(home.marks().isEmpty)
                try #expect(!home.appending("f").marks().isEmpty)
            }
        }
        try expectTranscript(
            """
            $ resval unset -R all home
            items changed: 0
            ! resval: home: is a home: a mark on it counts for everything in it (give --yes \
            to change it)
            [2]
            $ resval exclude -n / home
            /: isExcludedFromBackup=true
            home: isExcludedFromBackup=true
            items to change: 2
            $ resval exclude .
            ! resval: .: is a directory above a home: a mark on it counts for everything in it \
            (give --yes to change it)
            [2]
            $ resval exclude link/..
            ! resval: link/..: is a directory above a home: a mark on it counts for everything \
            in it (give --yes to change it)
            [2]
            $ resval exclude /
            ! resval: /: is the root directory: a mark on it counts for everything in it \
            (give --yes to change it)
            [2]
            $ resval exclude --yes home
            """, in: root, environment: environment(root))
        try #expect(home.marks().isExcludedFromBackup == true)
        try expectTranscript(
            """
            $ resval unset excluded home
            ! resval: home: is a home: a mark on it counts for everything in it (give --yes \
            to change it)
            [2]
            $ resval unset --yes excluded home
            """, in: root, environment: environment(root))
        try #expect(home.marks().isEmpty)
    }

    @Test("are not taken there from another item, another program or a file")
    func transfers() throws {
        let root = try temporaryDirectory {
            Directory("home") {
                File("f").excluded()
                File(".nobackup")
            }
            File(
                "saved",
                """
                {"format":"resval-marks","version":1,"root":"."}
                {"path":".","mark":"isExcludedFromBackup","old":null,"new":"true"}
                {"end":true,"marks":1,"isComplete":true}

                """)
        }
        let home = root.appending("home")
        let why =
            "is a home: a mark on it counts for everything in it (to store it: resval set --yes)"
        try expectTranscript(
            """
            $ resval copy home/f home
            ! resval: home: \(why)
            [2]
            $ resval copy --all-attributes home/f home
            ! resval: home: \(why)
            [2]
            $ resval import --from nobackup home
            items changed: 0
            ! resval: home: \(why)
            [2]
            $ resval marks load --root home saved
            items changed: 0
            ! resval: home: \(why)
            [2]
            """, in: root, environment: environment(root))
        try #expect(home.marks().isEmpty)
    }

    @Test("are refused on the home of a user whom only a name service knows, or nobody")
    func unlisted() throws {
        try require(.root)
        let root = try temporaryDirectory(containing: tree)
        var command = Command(
            "/bin/bash", "-c",
            """
            printf '#!/bin/sh\n[ "$2" = 54321 ] && echo n:x:54321:54321::/srv/n:/bin/sh\n' > getent
            chmod +x getent
            unshare --mount bash -c '
                mount --bind getent /usr/bin/getent
                mount -t tmpfs none /srv
                mkdir -p /srv/{n/work,unknown/work}
                chown -R 54321 /srv/n
                chown -R 54322 /srv/unknown
                "$0" exclude /srv/n /srv/n/work /srv/unknown /srv/unknown/work
                getfattr --absolute-names --only-values -n user.resval.isExcludedFromBackup \
                    /srv/*/work
                getfattr --absolute-names -d -m user /srv/n /srv/unknown' "$0"
            """, FilePath.built("resval"))
        command.workingDirectory = root
        command.environment = environment(root)
        expect(
            try command.run(), exits: 0, prints: "truetrue",
            complains: """
                resval: /srv/n: is a home: a mark on it counts for everything in it (give \
                --yes to change it)
                resval: /srv/unknown: is the topmost directory of a user who is not known \
                here, perhaps a home: a mark on it counts for everything in it (give --yes to \
                change it)

                """)
    }

    @Test("are asked about on a terminal", arguments: [("y", true), ("n", false), ("", false)])
    func terminal(answer: String, isMarked: Bool) throws {
        try require(.tool("script"))
        let root = try temporaryDirectory(containing: tree)
        let result = try Command(
            .built("resval"), "exclude", "home", in: root, environment: environment(root),
            input: Array("\(answer)\n".utf8)
        ).onTerminal("dumb").run()
        #expect(result.exitCode == (isMarked ? 0 : 1))
        #expect(
            result.text.replacing("\r\n    ", with: " ").contains(
                "resval: home: is a home: a mark on it counts for everything in it: continue? "
                    + "[y/N]"))
        #expect(result.text.contains("resval: home: not changed") == !isMarked)
        try #expect(root.appending("home").marks().isEmpty == !isMarked)
    }
}
