import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import Testing

private let text = #"""
    22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
    23 22 0:21 / /proc rw - proc proc rw
    24 22 0:40 /@home /home rw,relatime shared:2 master:3 - btrfs /dev/sdb rw,subvol=/@home
    25 24 0:41 / /home/u/my\040disk\134x ro,nosuid - fuse.sshfs host:/a\040b rw
    26 22 8:17 / /mnt/new rw - newfs /dev/sdb1 ro
    27 22 0:42 / /mnt/odd rw - oddfs none rw
    28 22 0:43 / /mnt/gone//deleted rw - tmpfs tmpfs rw
    29 24 0:44 / /home rw - tmpfs tmpfs rw
    garbage
    30 22 x:y / /bad rw - tmpfs tmpfs rw

    """#

struct MountTableTests {
    private let table = MountTable(mountinfo: Array(text.utf8))

    @Test("mount points of fstab are read, and swap, comments and halves of lines left out")
    func fstab() {
        let text = """
            # /dev/sda1 /comment ext4 defaults 0 1
            UUID=1 / ext4 errors=remount-ro 0 1
            \t/dev/sdb1\t/my\\040disk\tvfat  noauto
            UUID=2 none swap sw 0 0
            /dev/sdc1 /half

            """
        #expect(mountPoints(inFstab: Array(text.utf8)) == ["/", "/my disk"])
    }

    @Test("lines of mountinfo are read, and others left out")
    func parses() {
        #expect(table.mounts.map(\.number) == [22, 23, 24, 25, 26, 27, 29])
        let disk = table.mounts[3]
        #expect(disk.mountPoint == #"/home/u/my disk\x"#)
        #expect(disk.source == Array("host:/a b".utf8))
        #expect(disk.isReadOnly)
        #expect(table.mounts[4].isReadOnly)
        #expect(!table.mounts[0].isReadOnly)
        #expect(table.mounts[2].root == "/@home")
        #expect(table.mounts[0].device == 0xFE01)
    }

    @Test("the directories of an overlay are known, whatever is in their names")
    func overlay() {
        let line =
            #"1 0 0:1 / /m rw - overlay none rw,lowerdir=/a\040b:/c\134:d\054e::/f,upperdir=/u:v,"#
            + #"workdir=/w,index=/no,lowerdir+=/g"#
        let mount = MountTable(mountinfo: Array(line.utf8)).mounts.first
        let expected: Set<FilePath> = ["/a b", "/c:d,e", #"/c\:d,e"#, "/f", "/u:v", "/g"]
        #expect(Set(mount?.layers ?? []) == expected)
        #expect(mount?.workDirectories == ["/w"])
        let other = "1 0 0:1 / /m rw - ext4 none rw,upperdir=/u"
        #expect(MountTable(mountinfo: Array(other.utf8)).mounts.first?.layers == [])
    }

    @Test("without the mount of / others are found, as in a chroot")
    func chroot() {
        let lines = "7 3 0:1 / /proc rw - proc p rw\n8 7 0:2 / /proc/sys/fs rw - oddfs p rw\n"
        let table = MountTable(mountinfo: Array((lines + "9 3 0:3 / /a rw - tmpfs t rw").utf8))
        #expect(table.mount(holding: "/proc")?.number == 7)
        #expect(table.mount(holding: "/proc/sys/fs/x")?.number == 8)
        #expect(table.mount(holding: "/a/b")?.number == 9)
        #expect(table.mount(holding: "/home") == nil)
    }

    @Test("servers and FUSE mounts may be silent, but not what everything needs")
    func remote() {
        func table(_ lines: String...) -> MountTable {
            MountTable(mountinfo: Array(lines.joined(separator: "\n").utf8))
        }
        let usual = table(
            "1 0 8:1 / / rw - ext4 d rw", "2 1 0:1 / /mnt/far rw - fuse.sshfs h rw",
            "3 1 0:2 / /net rw - nfs4 h rw", "4 3 8:2 / /net/near rw - ext4 d rw",
            "5 1 0:3 / /hidden rw - nfs4 h rw", "6 5 8:3 / /hidden rw - ext4 d rw")
        #expect(usual.remoteMountPoints == ["/mnt/far"])
        #expect(usual.isRemote("/mnt/far/below"))
        #expect(!usual.isRemote("/mnt/farther") && !usual.isRemote("/net/near/x"))
        #expect(table("1 0 0:2 / / rw - nfs4 h rw").remoteMountPoints == [])
    }

    @Test("escaped bytes that are not UTF-8 are kept")
    func nonUTF8() {
        let line = Array("1 0 0:1 / /a".utf8) + [0xFF] + Array(#"\012b rw - tmpfs t rw"#.utf8)
        let mount = MountTable(mountinfo: line).mounts.first
        #expect(mount?.mountPoint == FilePath(platformString: [0x2F, 0x61, -1, 0x0A, 0x62, 0]))
    }

    @Test(
        "the kind of storage decides",
        arguments: [
            ("ext4", .local), ("tmpfs", .local), ("overlay", .local), ("zfs", .local),
            ("proc", .pseudo), ("cgroup2", .pseudo), ("autofs", .pseudo), ("devpts", .pseudo),
            ("nfs4", .network), ("cifs", .network), ("9p", .network), ("fuse", .fuse),
            ("fuseblk", .fuse), ("fuse.rclone", .fuse), ("fusectl", .pseudo), ("what", .unknown),
        ] as [(String, Mount.Category)])
    func category(type: String, category: Mount.Category) {
        let line = "1 0 0:1 / /m rw - \(type) none rw"
        let mount = MountTable(mountinfo: Array(line.utf8)).mounts.first
        #expect(mount?.category == category)
        #expect(mount?.category.meaning.isEmpty == false)
    }

    @Test("an unknown type on a block device is local, and without one unknown")
    func unknownTypes() {
        #expect(table.mounts[4].category == .local)
        #expect(table.mounts[5].category == .unknown)
    }

    @Test("a path lies on the mount that a lookup ends in")
    func holdingMount() {
        #expect(table.mount(holding: "/etc")?.number == 22)
        #expect(table.mount(holding: "/mnt/new/x")?.number == 26)
        #expect(table.mount(holding: "/mnt/newer")?.number == 22)
        // Mount 29 covers mount 24, and all that is mounted on it.
        #expect(table.mount(holding: #"/home/u/my disk\x/f"#)?.number == 29)
        #expect(MountTable(mountinfo: []).mount(holding: "/") == nil)
    }

    @Test("this machine's own table tells where / and /proc lie")
    func thisMachine() throws {
        let table = try MountTable.current()
        #expect(table.mount(holding: "/proc/self")?.filesystemType == "proc")
        let root = try #require(table.mount(holding: "/"))
        #expect(root.mountPoint == "/")
        #expect(try ancestorChain(of: "/").first?.status.identity.device == root.device)
    }
}
