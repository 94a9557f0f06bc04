import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("An ordinary user", .cleansUp)
struct OrdinaryUserTests {
    private static let user: UInt32 = 54321

    private static let kinds: [FilesystemKind] = [.ext4, .xfs, .btrfs, .tmpfs, .overlayfs]

    @Test("sets, reads and removes marks on files of his own", arguments: kinds)
    func ownFile(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f").owned(by: Self.user) }
        let file = filesystem.root.appending("f")
        try #expect(mark("set", file) == "set")
        try #expect(mark("get", file) == "true")
        try #expect(mark("unset", file) == "removed")
        try #expect(mark("get", file) == "unset")
    }

    @Test(
        "may not mark another's file or sticky directory, nor a read-only file of his own",
        arguments: kinds)
    func refused(kind: FilesystemKind) throws {
        let root = try filesystem(kind) {
            File("another's")
            Directory("sticky").permissions(0o1777)
            File("read-only").permissions(0o444).owned(by: Self.user)
            Directory("own sticky").permissions(0o1777).owned(by: Self.user)
        }.root
        try expectRefused("permissionDenied", root.appending("another's"))
        try expectRefused("stickyDirectory", root.appending("sticky"))
        try expectRefused("permissionDenied", root.appending("read-only"))
        try #expect(mark("set", root.appending("own sticky")) == "set")
    }

    @Test("is told that a mark is unreadable, and only where there is one", arguments: kinds)
    func unreadableFile(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) {
            File("marked").excluded().permissions(0)
            File("plain").permissions(0)
        }
        try #expect(mark("get", filesystem.root.appending("marked")) == "permissionDenied")
        try #expect(mark("get", filesystem.root.appending("plain")) == "unset")
    }

    @Test("may not look below a closed directory: permissionDenied, not unset", arguments: kinds)
    func closedDirectory(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) {
            Directory("d") { File("f").excluded() }.permissions(0o700)
        }
        let file = filesystem.root.appending("d").appending("f")
        try #expect(mark("get", file) == "permissionDenied")
        try expectRefused("permissionDenied", file)
    }

    private func expectRefused(
        _ code: String, _ item: FilePath, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = try item.extendedAttributeNames()
        try #expect(mark("set", item) == code, sourceLocation: sourceLocation)
        try #expect(item.extendedAttributeNames() == names, sourceLocation: sourceLocation)
    }

    /// What the library answers to this user in a process of its own.
    private func mark(_ verb: String, _ item: FilePath) throws -> String {
        let result = try Command(.built("test-tool"), "mark", verb, item, user: Self.user).run()
        try #require(result.errorOutput.isEmpty, "\(result)")
        return result.text.trimmingSuffix("\n")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
