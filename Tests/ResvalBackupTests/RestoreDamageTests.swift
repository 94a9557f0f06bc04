import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Restoring what is damaged")
struct RestoreDamageTests {
    @Test("a byte that went bad makes the restore incomplete, and names that file and no other")
    func flippedByte() throws {
        let tree = Tree {
            File("before", "text")
            Directory("directory") { File("inside", "text") }
        }
        try withBackup(of: tree) { backup in
            let large = backup.source.appending("large: 12 MB")
            try tool("dd", "if=/dev/urandom", "of=\(large)", "bs=1M", "count=12", "status=none")
            try backup.create()
            // The small files fill a few hundred bytes of the pack.
            let script = """
                pack=$(find "$1/data" -type f -size +4M | sort | head -n 1)
                chmod u+w "$pack"
                offset=$(($(stat -c %s "$pack") / 2))
                byte=$(od -An -tu1 -j $offset -N 1 "$pack")
                printf "\\\\$(printf %03o $((byte ^ 1)))" |
                    dd of="$pack" bs=1 seek=$offset conv=notrunc status=none
                """
            try shell(script, backup.repository)
            let result = try backup.restore(exits: 3)
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.count { $0.contains("\(backup.source)") } == 1, "\(result)")
            #expect(lines.contains { $0.contains("large: 12 MB: was not restored") }, "\(result)")
            #expect(result.errorText.contains("ciphertext verification failed"))
            #expect(result.text.contains(": 4 of 5 items restored"))
            let again = backup.base.appending("again")
            let json = try backup.run(
                "restore", "--snapshot", "latest", "--target", again, "--json", exits: 3)
            #expect(json.text.contains(#""isComplete":false"#))
            try backup.run(
                "restore", "--snapshot", "latest", "--target", backup.base.appending("part"),
                backup.source.appending("directory"), exits: 0)
        }
    }

    @Test("a restore that brings back nothing fails, and says of each item why")
    func nothing() throws {
        try require(.tool("strace"))
        try withBackup(of: Tree { File("file", "text") }) { backup in
            try backup.create()
            try tool("mkdir", backup.target)
            let result = try backup.restore(
                by: "strace -f -qq -o /dev/null -e trace=mkdirat -e inject=mkdirat:error=EIO")
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.errorText.contains("\(backup.source)/file: was not restored: mkdir "))
        }
    }
}
