import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Media that are taken away", .cleansUp)
struct RemovableTests {
    /// Runs a script in a mount namespace of its own, where `plug` mounts a medium with three files at
    /// `$stick`, and `create SOURCE…` prints the exit code, and how often it says that a medium is not here.
    private func run(_ script: String) throws -> CommandResult {
        let start = """
            cd "$1"; mount -t tmpfs tmpfs /media || exit; stick=/media/me/STICK
            plug() {
                mkdir -p $stick; mount -t tmpfs tmpfs $stick
                for name in 1 2 3; do echo $name > $stick/$name; done
            }
            create() {
                "$RESVAL" create "$@" > log 2>&1
                echo "$? $(grep -c 'is on a medium that is not here' log)"
            }

            """
        let backup = try backup(of: Self.tree)
        return try backup.script(start + script, backup.base, unsharing: "--mount")
    }

    private static let tree = Tree {
        File("file", "text")
        Directory("directory") { File("other", "text") }
    }

    @Test("a SOURCE that is gone with its medium is named once, held, and no shortfall")
    func away() throws {
        let result = try run(
            """
            plug; create source $stick
            umount $stick; rmdir $stick
            create source $stick; create source $stick
            "$RESVAL" accept > log 2>&1; echo "accept $?"
            create source $stick
            plug; create source $stick
            umount $stick; create source $stick; create source $stick
            "$RESVAL" show latest | grep -c "not in the newest snapshot.*until it is back"
            "$RESVAL" forget --keep-last 1 > /dev/null; "$RESVAL" snapshots | wc -l
            plug; rm $stick/[12]; create source $stick; cat log
            """)
        let lines = result.text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(11) == [
                "0 0", "0 1", "0 0", "accept 0", "0 0", "0 0", "0 1", "0 0", "1", "3", "3 0",
            ], "\(result)")
        #expect(result.text.contains("its items fell from 4 to 2"), "\(result)")
    }

    @Test("accept, given for another matter, leaves what is away held and compared")
    func accepted() throws {
        let result = try run(
            """
            plug; create source $stick
            umount $stick; rmdir $stick
            create source $stick
            rm -r source/*; create source $stick
            keep() {
                "$RESVAL" accept > log 2>&1; create source $stick
                "$RESVAL" forget --keep-last 1 > /dev/null; "$RESVAL" snapshots | wc -l
            }
            keep
            plug; rm $stick/[12]; create source $stick; grep -c 'its items fell from 4 to 2' log
            keep
            """)
        #expect(result.text == "0 0\n0 1\n3 0\n0 0\n3\n3 0\n1\n0 0\n2\n", "\(result)")
    }

    @Test("a SOURCE that was deleted from its medium, or is another directory now, is a shortfall")
    func deleted() throws {
        let result = try run(
            """
            plug; mkdir $stick/d; touch $stick/d/1; create source $stick/d
            rm -r $stick/d; create source $stick/d; create source $stick/d
            create source $stick; umount $stick; touch $stick/new; create source $stick
            """)
        #expect(result.text == "0 0\n3 0\n3 0\n0 0\n3 0\n", "\(result)")
    }

    @Test("a medium inside a SOURCE is left out with the reason, unless it is a SOURCE")
    func inside() throws {
        let result = try run(
            """
            mkdir -p $stick; touch /media/me/file; create /media
            plug; create /media; "$RESVAL" plan --excluded-only /media | head -n 1
            umount $stick; create /media
            plug; create /media $stick; "$RESVAL" show latest --items | grep -c $stick/
            """)
        #expect(
            result.text == """
                0 0
                0 0
                exclude   /media/me/STICK: tmpfs is mounted here, on a medium that can be taken away \
                (to back it up, name it as a SOURCE)
                0 0
                0 0
                3

                """, "\(result)")
    }
}

@Suite("The programs' own state in a SOURCE", .cleansUp)
struct OwnStateTests {
    @Test("the state neither shows nor changes a backup, and a SOURCE in it is backed up")
    func state() throws {
        let backup = try backup { File("file", "text") }
        let home = backup.base.appending("home")
        let state = home.appending(".local/state/resval")
        try Tree { File("notes", "text") }.create(in: home)
        try backup.run("create", home, exits: 0)
        let plan = try backup.run("plan", "--json", home, exits: 0)
        #expect(!plan.text.contains("state/resval") && !plan.text.contains("own-state"), "\(plan)")
        try backup.run(
            "create", "--json", home, exits: 0,
            prints: #""newFiles":0,"changedFiles":0,"#, #""excludedItems":0,"#)
        let items = try backup.runSuccessfully("show", "latest", "--items")
        #expect(!items.contains("state/resval"), "\(items)")
        let show = try backup.runSuccessfully("show", "--json", "latest")
        let count = items.split(separator: "\n").count { $0.contains("/home") }
        #expect(show.contains("\"items\":\(count),"), "\(show)\n\(items)")
        #expect(plan.text.contains("\"storedFiles\":1,"), "\(plan)")
        try backup.restore()
        #expect(!backup.restored(state).exists)
        #expect(try contentsOfFile(backup.restored(home.appending("notes"))) == Array("text".utf8))
        try backup.run("create", home, state.appending("backup"), exits: 3, says: "excluded")
        try backup.run("create", state, exits: 0)
        #expect(try backup.runSuccessfully("show", "latest", "--items").contains("resval/backup"))
    }

    @Test("the record is stored whatever the home is called")
    func oddHome() throws {
        let backup = try backup { File("file", "text") }
        let home = backup.base.appending("[a]* $HOME {b}\\")
        try tool("mkdir", home)
        let result = try backup.script(
            #"export HOME="$1"; for _ in 1 2; do "$RESVAL" create "$1" > /dev/null 2>&1; echo $?; done"#,
            home)
        #expect(result.text == "0\n0\n", "\(result)")
    }
}
