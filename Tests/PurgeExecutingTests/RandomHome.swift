import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport

@testable import PurgePlanning

/// A home with a random tree, and what uses it.
final class RandomHome {
    let fixture: PurgeFixture
    let home = RandomItem("", .directory, in: nil)
    private var numbers: SeededNumbers
    private var held: [FileDescriptor] = []
    private var count = 0

    /// Makes a tree in a directory that exists.
    init(_ fixture: PurgeFixture, seed: UInt64) throws {
        self.fixture = fixture
        numbers = SeededNumbers(seed: seed)
        for name in ["Documents", ".cache", ".ssh", "work"] {
            let directory = RandomItem(name, .directory, in: home)
            fill(directory, depth: 0)
        }
        for item in home.all.dropFirst() { try make(item) }
        // Times last: making what is below changes those of a directory.
        for item in home.all.dropFirst() { try finish(item) }
    }

    deinit { letGo() }

    /// Ends all use.
    func letGo() {
        for descriptor in held { close(descriptor.rawValue) }
        held = []
    }

    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &numbers) == 0 }

    func pick(_ items: [RandomItem]) -> RandomItem? { items.randomElement(using: &numbers) }

    private func fill(_ directory: RandomItem, depth: Int) {
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            count += 1
            let special = [".git", "pyvenv.cfg", "locked\(count)"]
            let plain = ["item\(count)", "n\n\(count)", "item\(count)"]
            var name = (chance(14) ? special : plain).randomElement(using: &numbers) ?? "item"
            let isDirectory = name == ".git" || name.hasPrefix("locked") || (depth < 3 && chance(2))
            if directory.children.contains(where: { $0.name == name }) { name = "item\(count)" }
            var kind: RandomItem.Kind = isDirectory ? .directory : .file
            if !isDirectory, chance(15) { kind = chance(2) ? .link : .fifo }
            let item = RandomItem(name, kind, in: directory)
            if kind == .file || kind == .directory {
                if chance(5) { item.mark = .purgeable }
                if chance(16) { item.mark = chance(3) ? .malformed : .kept }
                item.isWritableByOthers = chance(20)
            }
            item.isYoung = chance(18)
            item.isForeign = chance(25)
            item.isUsed = name.hasPrefix("locked") || (kind == .file && chance(18))
            if kind == .file, chance(18) {
                _ = RandomItem(name + "-wal", .file, in: directory)
            }
            if isDirectory, depth < 3 { fill(item, depth: depth + 1) }
        }
    }

    private func path(_ item: RandomItem) -> FilePath { fixture(item.path) }

    private func make(_ item: RandomItem) throws {
        let path = path(item)
        switch item.kind {
        case .directory: mkdir(path.string, 0o755)
        case .fifo: mkfifo(path.string, 0o644)
        case .link: symlink(fixture("Documents").string, path.string)
        case .file:
            let descriptor = Glibc.open(path.string, O_WRONLY | O_CREAT | O_EXCL, 0o644)
            try Array(block.utf8).withUnsafeBytes {
                try writeFile(FileDescriptor(rawValue: descriptor), $0)
            }
            close(descriptor)
        }
        switch item.mark {
        case .purgeable?: try path.setValue(true, for: .isPurgeable)
        case .kept?: try path.setValue(false, for: .isPurgeable)
        case .malformed?:
            try path.setExtendedAttribute(
                named: StoredKey.isPurgeable.attribute, to: Array("maybe".utf8))
        case nil: break
        }
        if item.isWritableByOthers { chmod(path.string, 0o777) }
        if item.isForeign { lchown(path.string, 65534, 65534) }
        if item.kind == .file, chance(25), let document = home.children.first {
            count += 1
            let name = "linked\(count)"
            link(path.string, self.path(document).appending(name).string)
            item.isLinked = true
        }
    }

    private func finish(_ item: RandomItem) throws {
        let path = path(item)
        if item.isYoung {
            let seconds = Int(FileTime.later.seconds) - 3600
            let moment = timespec(tv_sec: seconds, tv_nsec: 0)
            let times = [moment, moment]
            utimensat(AT_FDCWD, path.string, times, AT_SYMLINK_NOFOLLOW)
        }
        item.identity = try path.withoutFollowing.status().identity
        guard item.isUsed else { return }
        let descriptor = try openFile(path.withoutFollowing, flags: .readOnly)
        if item.locksBelow { _ = try takeLock(on: descriptor) }
        held.append(descriptor)
    }

    /// Changes something that the plan has seen, as another program would.
    func disturb() throws {
        guard let item = pick(home.all.filter { $0.kind == .file || $0.kind == .directory }),
            item.parent != nil
        else { return }
        let path = path(item)
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0:
            guard setMark(path) else { return }
            item.mark = .kept
        case 1:
            guard item.kind == .file, chmod(path.string, 0o600) == 0 else { return }
            item.isChanged = true
        case 2:
            guard let document = home.children.first?.children.first(where: { $0.kind == .file }),
                item.kind == .directory,
                rename(self.path(document).string, path.appending("moved").string) == 0
            else { return }
            document.isChanged = true
            item.isChanged = true
        default:
            // A link to documents in the place of a directory.
            guard item.kind == .directory, item.ancestors.count > 1,
                rename(path.string, fixture.root.appending("moved\(count)").string) == 0
            else { return }
            symlink(fixture("Documents").string, path.string)
            item.all.forEach { $0.isChanged = true }
        }
    }

    private func setMark(_ path: FilePath) -> Bool {
        do {
            try path.setValue(false, for: .isPurgeable)
            return true
        } catch {
            return false
        }
    }
}
