import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("The way to files that share a directory", .cleansUp)
struct WayTests {
    private let names = (0..<6).map { "file\($0)" }
    private var tree: Tree {
        Tree {
            Directory(".cache/app") { for name in names { File("\(name)", block) } }
            Directory("Documents") { File("document", block) }
        }
    }

    /// Waits until changes show in the times of directories that were made before.
    private func waitForClock() { usleep(3_100_000) }

    /// Executes a plan of all files with a change just after the first was deleted, and expects that
    /// no other is.
    ///
    /// - Parameters:
    ///   - call: the call after the deletion before which the change is made; nil for the first.
    ///   - isNew: whether the directories are so new that changes may not show in their times.
    private func expectKept(
        as reasons: Set<String>, before call: SystemCall? = .close, isNew: Bool = false,
        _ change: @escaping (PurgeFixture) throws -> Void,
        afterwards: (PurgeFixture) throws -> FilePath = { $0(".cache/app") }
    ) throws {
        let home = try purgeHome { tree }
        if !isNew { waitForClock() }
        let plan = try home.plan()
        var (hasRemoved, hasChanged) = (false, false)
        let report = try home.execute(plan) { made in
            if !hasRemoved {
                hasRemoved = made == .unlinkat
                return
            }
            guard !hasChanged, call == nil || made == call else { return }
            hasChanged = true
            try change(home)
        }
        let directory = try afterwards(home)
        #expect(report.removed.count == 1)
        #expect(report.kept.count == names.count - 1)
        #expect(Set(report.kept.values.map(\.name)).isSubset(of: reasons), "\(report.kept)")
        for path in report.kept.keys {
            let file = directory.appending(path.components.suffix(1))
            #expect(try contentsOfFile(file) == Array(block.utf8))
        }
    }

    @Test("is walked once for many of them")
    func shared() throws {
        let home = try purgeHome { for index in 0..<200 { File(".cache/app/\(index)", block) } }
        waitForClock()
        let plan = try home.plan()
        let mock = SystemCallMock([:])
        let report = try mock.run { try home.execute(plan) }
        #expect(report.removed.count == 200)
        // For the file, its directory and new ones above; for all when it is walked again.
        #expect(mock.calls[.listxattr, default: 0] < 8 * 200)
    }

    @Test("is walked again when a directory is moved, or a link has its name")
    func moved() throws {
        for name in ["app", ""] {
            try expectKept(as: ["changed", "unreadable", "protected-directory"]) { home in
                let directory = home(".cache").appending(name)
                rename(directory.string, home("Documents/moved").string)
                symlink(home("Documents/moved").string, directory.string)
            } afterwards: { home in
                home("Documents/moved").appending(name.isEmpty ? "app" : "")
            }
        }
    }

    @Test("is walked again when a directory above is marked")
    func marked() throws {
        for path in ["", ".cache", ".cache/app"] {
            try expectKept(as: ["protected"]) { home in
                try home(path).setValue(false, for: .isPurgeable)
            }
        }
    }

    @Test(
        "is walked again when a directory is marked while a file in it is deleted",
        arguments: [true, false])
    func markedMeanwhile(isNew: Bool) throws {
        for path in ["", ".cache", ".cache/app"] {
            try expectKept(as: ["protected"], before: nil, isNew: isNew) { home in
                try home(path).setValue(false, for: .isPurgeable)
            }
        }
    }

    @Test("is walked again when the directory turns out to be no cache")
    func notACache() throws {
        try expectKept(as: ["not-a-cache"]) { home in
            try tool("mkdir", home(".cache/app/.git"))
        }
    }

    @Test("is closed when a directory on it is locked")
    func locked() throws {
        var locked: [FileDescriptor] = []
        defer { locked.forEach(closeIgnoringErrors) }
        for path in [".cache", ".cache/app"] {
            try expectKept(as: ["locked"]) { home in
                let directory = try openFile(home(path), flags: [.readOnly, .directory])
                locked.append(directory)
                #expect(try takeLock(on: directory))
            }
        }
    }

    @Test("is walked again when another user gets a directory above the root")
    func otherOwner() throws {
        try require(.root)
        try expectKept(as: ["unsafe-path"]) { home in
            try tool("chown", "1234", home.root)
        } afterwards: { home in
            try tool("chown", "0", home.root)
            return home(".cache/app")
        }
    }

    @Test("is walked again when something is mounted on it")
    func mounted() throws {
        try require(.root)
        for path in [".cache", ".cache/app"] {
            try expectKept(as: ["changed", "mount-point", "unreadable"]) { home in
                try tool("mount", "--bind", home(path), home(path))
            } afterwards: { home in
                try tool("umount", home(path))
                return home(".cache/app")
            }
        }
    }
}
