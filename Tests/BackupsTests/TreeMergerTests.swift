import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Moving what was restored into its target")
struct TreeMergerTests {
    @Test("a directory of the target that is moved meanwhile costs what it would have got")
    func movedTarget() throws {
        try withTemporaryDirectory { base in
            let (tree, target) = (base.appending("tree"), base.appending("target"))
            let script = """
                for top in "$1" "$2"; do
                    mkdir "$top" && cd "$top"
                    for level in $(seq 30); do mkdir d && cd d; done
                done
                cd "$1"
                for level in $(seq 30); do echo text > z; cd d; done
                """
            try shell(script, tree, target)
            var steps = 0
            var merger = TreeMerger(.replacing, asked: [Array("/".utf8)]) {
                steps += 1
                // In the lowest directory: those above are no longer open. The second is then found
                // neither above the third nor by its name.
                guard steps == 31 else { return false }
                let second = target.appending("d").appending("d")
                _ = try? tool("mv", second.appending("d"), base)
                _ = try? tool("mv", second, base.appending("second"))
                return false
            }
            try merger.merge(tree, into: target)
            let failures = merger.outcome.failures.map { String(decoding: $0.path, as: UTF8.self) }
            #expect(failures == ["/d/d/z", "/d/d"])
            #expect(try contentsOfFile(target.appending("z")) == Array("text\n".utf8))
            #expect(
                try contentsOfFile(target.appending("d").appending("z")) == Array("text\n".utf8))
            #expect(
                try contentsOfFile(base.appending("d").appending("z")) == Array("text\n".utf8))
        }
    }
}
