import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Filesystems of tests")
struct FilesystemFixtureTests {
    @Test("every kind is mounted, and unmounted afterwards", arguments: FilesystemKind.allCases)
    func lifetime(kind: FilesystemKind) throws {
        let root = try cleaningUp {
            let filesystem = try filesystem(kind)
            let mounted = try tool("stat", "-f", "-c", "%T", filesystem.root)
            let names: [FilesystemKind: String] = [
                .xfs: "xfs", .btrfs: "btrfs", .tmpfs: "tmpfs", .overlayfs: "overlayfs",
            ]
            #expect(mounted == names[kind, default: "ext2/ext3"])
            return filesystem.root
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try root.status() }
    }
}
