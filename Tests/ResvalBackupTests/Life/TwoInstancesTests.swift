import SystemPackage
import TestSupport
import Testing

@Suite("Two at once")
struct TwoInstancesTests {
    @Test("two backups of the same SOURCEs at the same time both succeed, each with its record")
    func creates() throws {
        try withBackup(of: Tree { File("file", "text") }) { backup in
            try tool(
                "dd", "if=/dev/urandom", "of=\(backup.source)/large", "bs=1M", "count=60",
                "status=none")
            let result = try backup.script(
                """
                "$RESVAL" create "$1" >/dev/null & first=$!
                "$RESVAL" create "$1" >/dev/null & second=$!
                wait $first; echo $?; wait $second; echo $?
                """, backup.source)
            #expect(result.text == "0\n0\n", "\(result)")
            let list = try backup.runSuccessfully("snapshots", "--json")
            let identifiers = snapshotIdentifiers(in: list)
            #expect(identifiers.count == 2)
            for identifier in identifiers {
                let facts = try backup.runSuccessfully("show", identifier, "--json")
                #expect(facts.contains(#""bytes":62914564,"#), "\(facts)")
            }
        }
    }
}
