import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Marks of other programs that cannot be read", .cleansUp)
struct UnreadableMarkerTests {
    @Test("an attribute that is there and cannot be read counts as absent, and is reported")
    func attribute() throws {
        let root = try temporaryDirectory { File("f").attribute(ForeignAttribute.xdg, "false") }
        let file = root.appending("f")
        for errno in [Errno.ioError, .permissionDenied] {
            let marks = try SystemCallMock([.getxattr: [errno]]).run {
                try MarkReader().marks(of: file, kind: .regularFile)
            }
            #expect(marks.foreign == ForeignMarks(unreadable: [.xdg: errno]))
        }
    }

    @Test("the policy backs up what it cannot read, and says so")
    func policy() {
        let policy = StoragePolicy(markers: [.native, .xdg], locations: nil)
        let marks = ForeignMarks(unreadable: [.xdg: .ioError, .nodump: .ioError])
        let decision = policy.decide(
            .none, kind: .regularFile, in: .empty, foreignMarks: marks, name: [], path: "/f",
            linkCount: 1, isMountRoot: false)
        #expect(!decision.isExcluded)
        #expect(decision.issues == [.unreadableMarker(.xdg, .ioError)])
        #expect(
            decision.issues.map(\.sentence) == [
                "the attribute user.xdg.robots.backup cannot be read and does not count: "
                    + "Input/output error"
            ])
    }

    @Test("a CACHEDIR.TAG that may not be read is reported, and its directory is backed up")
    func tag() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            File("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
                .permissions(0)
            File("f").attribute(ForeignAttribute.xdg, "false").permissions(0)
        }
        var command = Command(
            .built("resval"), "explain", "--no-locations", "--markers", "native,xdg,cachedir",
            "cache", "f")
        command.workingDirectory = root
        command.user = 65534
        let result = try command.run()
        #expect(result.exitCode == 2)
        let note = "cannot be read and does not count: Permission denied"
        #expect(result.text.contains("  note: a CACHEDIR.TAG in it \(note)\n"))
        #expect(result.text.contains("  note: the attribute user.xdg.robots.backup \(note)\n"))
        command.arguments = [
            "find", "--effective", "--excluded", "--no-locations", "--markers",
            "native,xdg,cachedir",
        ].map { Array($0.utf8) }
        let found = try command.run()
        #expect(found.exitCode == 2)
        #expect(found.text == "")
        #expect(found.errorText.contains("./f: the attribute user.xdg.robots.backup \(note)"))
        #expect(found.errorText.contains("./cache: a CACHEDIR.TAG in it \(note)"))
    }
}
