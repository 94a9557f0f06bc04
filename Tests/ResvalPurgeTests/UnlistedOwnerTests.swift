import SystemPackage
import TestSupport
import Testing

@Suite("Homes of users whom only a name service knows", .cleansUp)
struct UnlistedOwnerTests {
    private static let tree = Tree {
        Directory("people/novelist/Documents") { File("novel", block).purgeable() }
        Directory("people/novelist/renders") { File("frame", block).purgeable() }
    }

    /// Plans to delete everything of all users, or what `words` say, while getent(1) answers as a shell
    /// script that is given the arguments.
    private func plan(_ home: PurgeHome, getent answer: String, _ words: String) throws
        -> CommandResult
    {
        try require(.root)
        try tool("chown", "-R", "54321", home("people/novelist"))
        return try home.shell(
            """
            printf '#!/bin/sh\\n%s\\n' "$1" > answer
            chmod +x answer
            unshare --mount bash -c '
                mount --bind answer /usr/bin/getent
                "$0" plan --free 1M --min-age 0 --smallest 0 --all-owners \(words)' "$0"
            """, answer)
    }

    @Test("have no protected directories deleted, and their other items like those of others")
    func known() throws {
        let home = try purgeHome { Self.tree }
        let entry = "novelist:x:54321:54321::\(home("people/novelist")):/bin/sh"
        let answer = "echo \"$*\" >> \(home("asked")); echo '\(entry)'"
        let found = try plan(home, getent: answer, "-0 people")
        #expect(found.text == "\(home("people/novelist/renders/frame"))\0", "\(found)")
        // It was asked for once, whatever belongs to the user.
        try #expect(tool("cat", home("asked")) == "passwd 54321")
        let inside = try plan(home, getent: answer, "-0 people/novelist/Documents")
        #expect(inside.text == "", "\(inside)")
    }

    @Test(
        "have nothing deleted without an answer, outside of directories for temporary files",
        arguments: ["exit 2", "echo 'other:x:1:1::/:/bin/sh'", "exec sleep 60"])
    func unknown(_ answer: String) throws {
        let home = try purgeHome { Self.tree }
        let found = try plan(home, getent: answer, "--json --kept people")
        #expect(!found.text.contains(#""type":"unit""#), "\(found)")
        #expect(found.text.contains(#""reason":"unknown-owner""#), "\(found)")
        let inside = try plan(home, getent: answer, "-0 people/novelist/renders")
        #expect(inside.text == "", "\(inside)")
    }

    @Test("are no directories for caches")
    func named() throws {
        let home = try purgeHome { Self.tree }
        try plan(home, getent: "exit 2", "--cache people/novelist people").expect(
            exits: 64, says: "because it is a home")
    }
}
