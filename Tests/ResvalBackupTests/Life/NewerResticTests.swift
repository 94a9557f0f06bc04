import SystemPackage
import TestSupport
import Testing

/// What `scripts/install-dependencies --for-tests` unpacks beside the installed restic.
@Suite("A newer restic")
struct NewerResticTests {
    @Test("restic 0.18 works as the installed one does, and takes items out of snapshots")
    func life() throws {
        try require(.tool("restic-0.18"), .tool("setfattr"))
        let newer = try #require(FilePath.tool("restic-0.18"))
        let tree = Tree {
            File("file", String(repeating: "0123456789abcdef", count: 1000))
            Directory(FileName(Array("raw [1]* \\".utf8) + [0xFF, 0x0A])) {
                File(FileName([0xFE]), "text")
            }
            File(FileName(Array("raw $'\"".utf8) + [0xFF]), "text")
        }
        try withBackup(of: tree) { backup in
            let script = """
                cd "$1"
                mkdir programs; ln -s "$2" programs/restic
                PATH=$PWD/programs:$PATH
                run() { name=$1; shift; "$RESVAL" "$@" >> out.log 2>> err.log; echo "$name $?"; }
                run create create source
                run verify verify latest --read-data
                run restore restore latest --target target
                run evict evict source/file
                stat -c %a source/file
                run download download source/file
                for path in source/raw*; do
                    setfattr -n user.resval.isExcludedFromBackup -v true "$path"
                done
                run exclude create source
                run accept accept
                for path in source/raw*; do
                    "$RESVAL" explain --in-snapshots "$path" | grep '^restic ' > command
                    /bin/bash command >> out.log 2>> err.log; echo "rewrite $?"
                    "$RESVAL" explain --in-snapshots "$path" |
                        grep -o 'in no snapshot of this machine'
                done
                run forget forget --keep-last 1 --prune
                run whole verify latest --read-data
                """
            let before = try TreeListing(of: backup.source)
            let result = try backup.script(script, backup.base, newer)
            let messages = try tool("cat", backup.base.appending("err.log"))
            #expect(
                result.text == """
                    create 0
                    verify 0
                    restore 0
                    evict 0
                    0
                    download 0
                    exclude 3
                    accept 0
                    rewrite 0
                    in no snapshot of this machine
                    rewrite 0
                    in no snapshot of this machine
                    forget 0
                    whole 0

                    """, "\(result) \(messages)")
            #expect(
                try TreeListing(of: backup.restored(backup.source)).differences(from: before) == [])
        }
    }
}
