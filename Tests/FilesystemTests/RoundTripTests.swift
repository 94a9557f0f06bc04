import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Marks on every filesystem", .cleansUp)
struct RoundTripTests {
    @Test(
        "values are set, read and removed on files and directories",
        arguments: FilesystemKind.allCases)
    func roundTrip(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) {
            File("f"); Directory("d")
        }
        for name in ["f", "d"] {
            let item = filesystem.root.appending(name)
            try #expect(item.marks() == Marks.none)
            try item.setValue(true, for: .isExcludedFromBackup)
            try item.setValue(false, for: .isPurgeable)
            try item.setValue(.protection(.completeWhenUserInactive), for: .fileProtection)
            try #expect(
                item.marks()
                    == Marks(
                        isExcludedFromBackup: true, isPurgeable: false,
                        fileProtection: .completeWhenUserInactive))
            try #expect(item.removeValue(for: .isExcludedFromBackup))
            try #expect(item.removeValue(for: .isExcludedFromBackup) == false)
            try #expect(item.value(for: .isExcludedFromBackup) == nil)
            try #expect(item.value(for: .isPurgeable) == false)
        }
    }

    @Test("the hostile names carry marks", arguments: FilesystemKind.allCases)
    func hostileNames(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { for name in HostileNames.all { File(name) } }
        for name in HostileNames.all {
            let file = filesystem.root.appending(name)
            try file.setValue(true, for: .isExcludedFromBackup)
            try #expect(file.marks() == Marks(isExcludedFromBackup: true))
        }
    }

    @Test("a mark outlives unmounting", arguments: [FilesystemKind.ext4, .ext4SmallInodes])
    func remounting(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind) { File("f").excluded() }
        try filesystem.remount(["ro"])
        try #expect(filesystem.root.appending("f").value(for: .isExcludedFromBackup) == true)
    }

    @Test("two true marks fit into a 256-byte inode of ext4 and take no block")
    func insideInode() throws {
        let filesystem = try filesystem(.ext4) { File("f").excluded().purgeable() }
        let blocks = try tool("stat", "-c", "%b", filesystem.root.appending("f"))
        #expect(blocks == "0")
    }
}
