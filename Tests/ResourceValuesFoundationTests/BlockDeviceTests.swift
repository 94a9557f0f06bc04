import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues

@Suite("Block devices beneath a volume", .cleansUp)
struct BlockDeviceTests {
    /// A sysfs with a disk, a partition on USB, and stacks of device mapper on them.
    private static let sysfs = Tree {
        Directory("devices") {
            Directory("pci0000:00") {
                Directory("sda") {
                    File("removable", "0\n"); Directory("slaves")
                    Directory("sda1") { File("partition", "1\n") }
                }
                Directory("usb1") {
                    Directory("sdb") {
                        File("removable", "1\n"); Directory("slaves")
                        Directory("sdb1") { File("partition", "1\n") }
                    }
                }
            }
            Directory("virtual") {
                device("dm-0", "CRYPT-LUKS2-0123456789abcdef-home", on: ["sda1"])
                device("dm-1", "LVM-abcdef", on: ["dm-0"])
                device("dm-2", "LVM-abcdef", on: ["sda1"])
                device("dm-3", "LVM-abcdef", on: ["dm-0", "sda1"])
                device("dm-4", "CRYPT-VERITY-0123456789abcdef-usr", on: ["sda1"])
                device("dm-5", "CRYPT-PLAIN-swap", on: ["sda1"])
                device("dm-6", "CRYPT-INTEGRITY-x", on: ["sda1"])
                device("dm-7", "LVM-circle", on: ["dm-7"])
                device("dm-8", "LVM-empty", on: [])
                Directory("md0") {
                    Directory("md"); Directory("slaves")
                    Directory("md0p1") { File("partition", "1\n") }
                }
            }
        }
        Directory("class") {
            Directory("block") {
                SymbolicLink("sda", to: "../../devices/pci0000:00/sda")
                SymbolicLink("sda1", to: "../../devices/pci0000:00/sda/sda1")
                SymbolicLink("sdb1", to: "../../devices/pci0000:00/usb1/sdb/sdb1")
                SymbolicLink("md0", to: "../../devices/virtual/md0")
                SymbolicLink("md0p1", to: "../../devices/virtual/md0/md0p1")
                for number in 0..<9 {
                    let name = "dm-\(number)" as FileName
                    SymbolicLink(name, to: FilePath("../../devices/virtual/dm-\(number)"))
                }
            }
        }
        Directory("dev") {
            Directory("block") { SymbolicLink("253:1", to: "../../devices/virtual/dm-1") }
        }
        Directory("fs") {
            Directory("btrfs") {
                Directory("features")
                Directory("0123-uuid") {
                    Directory("devices") {
                        SymbolicLink("sda1", to: "x"); SymbolicLink("dm-0", to: "x")
                    }
                }
            }
        }
    }

    private static func device(_ name: String, _ uuid: String, on parts: [String]) -> Directory {
        Directory("\(name)") {
            Directory("dm") { File("uuid", uuid + "\n") }
            Directory("slaves") {
                for part in parts { SymbolicLink(FileName(Array(part.utf8)), to: "x") }
            }
        }
    }

    private func blockDevices() throws -> BlockDevices {
        BlockDevices(sysfs: try temporaryDirectory(containing: Self.sysfs))
    }

    @Test(
        "dm-crypt is found beneath, and only where all of the volume lies on it",
        arguments: [
            ("sda1", false), ("dm-0", true), ("dm-1", true), ("dm-2", false), ("dm-3", false),
            ("dm-4", false), ("dm-5", true), ("dm-6", false), ("dm-7", nil), ("missing", nil),
        ] as [(String, Bool?)])
    func encryption(name: String, expected: Bool?) throws {
        try #expect(blockDevices().isEncrypted(name) == expected)
    }

    @Test("a partition answers with its drive")
    func drives() throws {
        let devices = try blockDevices()
        #expect(devices.isRemovable("sda1") == false)
        #expect(devices.isRemovable("sdb1") == true)
        #expect(devices.isRemovable("missing") == nil)
    }

    @Test("a drive and its partitions remain what they are; what is made of others does not")
    func unchanging() throws {
        let devices = try blockDevices()
        for name in ["sda", "sda1", "sdb1"] {
            #expect(devices.isDrive(name))
        }
        for name in ["dm-0", "dm-8", "md0", "md0p1", "missing"] {
            #expect(!devices.isDrive(name))
        }
    }

    @Test("a mount's devices are found by its number, those of btrfs by its members")
    func devices() throws {
        let devices = try blockDevices()
        let table = MountTable(
            mountinfo: Array(
                """
                1 0 253:1 / / rw - ext4 /dev/mapper/x rw
                2 1 0:40 / /b rw - btrfs /dev/null rw
                3 1 0:41 / /t rw - tmpfs tmpfs rw
                4 1 253:9 / /u rw - ext4 /dev/mapper/y rw

                """.utf8))
        #expect(table.mounts.map { devices.names(beneath: $0) } == [["dm-1"], ["null"], [], []])
    }

    @Test("udev's links name a device, with escapes undone")
    func diskLinks() throws {
        let root = try temporaryDirectory {
            SymbolicLink("a\\x20b\\x2fc", to: "../../sda1"); SymbolicLink("other", to: "../../sdb1")
        }
        #expect(diskLink(to: "sda1", in: root) == Array("a b/c".utf8))
        #expect(diskLink(to: "sda", in: root) == nil)
        #expect(diskLink(to: "sda1", in: root.appending("missing")) == nil)
    }
}
