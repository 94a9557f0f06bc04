import SystemPackage
import TestSupport
import Testing

@Suite("Verifying")
struct VerifyTests {
    @Test("a flipped byte is found by reading all data, and the steps printed heal it")
    func flippedByte() throws {
        try withBackup(of: Tree { File("small", "text") }) { backup in
            try tool(
                "dd", "if=/dev/urandom", "of=\(backup.source)/large", "bs=1M", "count=2",
                "status=none")
            try backup.runSuccessfully("create", backup.source)
            let healthy = try backup.runSuccessfully("verify", "latest", "--read-data")
            #expect(healthy.contains("no damage found (all data was read)"))
            try tool(
                "sh", "-c",
                """
                pack=$(find "$1/data" -type f -size +500k | head -n 1) && chmod u+w "$pack" &&
                byte=$(od -An -tu1 -j1000 -N1 "$pack") &&
                printf "\\\\$(printf %o $((byte ^ 1)))" |
                    dd of="$pack" bs=1 seek=1000 conv=notrunc status=none
                """, "sh", backup.repository)
            let structure = try backup.run("verify")
            #expect(structure.exitCode == 0, "\(structure)")
            #expect(structure.text.contains("structure only"))
            let found = try backup.run("verify", "--read-data")
            #expect(found.exitCode == 1, "\(found)")
            #expect(found.text.contains("# damage found (all data was read)"))
            let healed = try backup.script(
                """
                export PATH="$(dirname "$RESVAL"):$PATH"
                printf '%s' "$1" > "$2/steps" && bash "$2/steps"
                """, found.text, backup.base)
            #expect(healed.exitCode == 0, "\(healed)")
            #expect(healed.text.contains("no damage found (all data was read)"), "\(healed)")
            try backup.runSuccessfully("restore", "latest", "--target", backup.target)
            try tool(
                "cmp", "\(backup.source)/large", backup.restored(backup.source).appending("large"))
        }
    }

    @Test("a snapshot whose trees are gone is damage")
    func missingTree() throws {
        try withBackup(of: Tree { File("file", "text") }) { backup in
            try backup.runSuccessfully("create", backup.source)
            try tool(
                "sh", "-c", "find \"$1/data\" -type f -delete; rm -rf \"$2/cache\"", "sh",
                backup.repository, backup.base)
            let result = try backup.run("verify", "latest")
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.errorText.contains("pack"), "\(result)")
            let json = try backup.run("verify", "--json")
            #expect(json.text.contains(#""isHealthy":false,"readsData":false"#), "\(json)")
        }
    }
}
