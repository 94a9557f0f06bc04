import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@Suite("A plan for a store that anybody can read")
struct ProtectionTests {
    private static let tree = Tree {
        File("free", "1")
        File("none", "1").protection(.none)
        File("until unlocked", "123").protection(.completeUntilFirstUserAuthentication)
        File("broken", "1").attribute(StoredKey.fileProtection.attribute, "strong")
        Directory("secret") {
            File("letter", "1")
            File("public", "1").protection(.none)
            SymbolicLink("link", to: "letter")
            Directory("deeper") { File("letter", "1") }
            File("left out", "1").excluded()
        }.protection(.complete)
    }

    @Test("leaves out what has a protection class, wherever the class comes from, and says so")
    func leavesOut() throws {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let plan = try makePlan(root) { $0.storesPlaintext = true }
            #expect(
                plan.reasons(below: root) == [
                    "broken: protected", "secret/deeper/letter: protected",
                    "secret/left out: marked", "secret/letter: protected",
                    "secret/link: protected", "until unlocked: protected",
                ])
            #expect(plan.isIncomplete)
            #expect(plan.totals.storedFiles == 3)
            #expect(plan.totals.storedDirectories == 3)
            let letter = try #require(
                plan.exclusions.first { $0.path == root.pushing("secret/letter") })
            #expect(letter.reason.ancestor == root.pushing("secret"))
            #expect(letter.reason.origin == .protected(.marked(.complete)))
        }
    }

    @Test("takes everything where the store is encrypted")
    func encrypted() throws {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let plan = try makePlan(root)
            #expect(plan.reasons(below: root) == ["secret/left out: marked"])
            #expect(!plan.isIncomplete)
        }
    }

    @Test("leaves out the tag of a cache directory that has a class, and takes any other")
    func tagFiles() throws {
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        let tree = Tree {
            Directory("free") { File("CACHEDIR.TAG", signature) }
            Directory("inherited") { File("CACHEDIR.TAG", signature) }.protection(.complete)
            Directory("own") {
                File("CACHEDIR.TAG", signature).protection(.completeUnlessOpen)
            }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let policy = StoragePolicy(markers: [.native, .cachedir])
            let plan = try makePlan(root, policy: policy) { $0.storesPlaintext = true }
            #expect(
                plan.reasons(below: root) == [
                    "free: marker", "inherited: marker", "inherited/CACHEDIR.TAG: protected",
                    "own: marker", "own/CACHEDIR.TAG: protected",
                ])
            #expect(plan.totals.storedFiles == 1)
        }
    }

    @Test("cannot be made of a SOURCE that is one protected file")
    func source() throws {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let file = root.appending("until unlocked")
            #expect(throws: SourceError.self) { try makePlan(file) { $0.storesPlaintext = true } }
        }
    }
}
