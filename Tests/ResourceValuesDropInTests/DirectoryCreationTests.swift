import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Creating directories", .cleansUp)
struct DirectoryCreationTests {
    @Test("what many threads create at the same time exists, and no thread fails")
    func race() throws {
        let root = try temporaryDirectory()
        let failures = Monitor<[String]>([])
        for round in 0..<100 {
            let path = "\(root)/\(round)/a/b/c/d"
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                do {
                    try createDirectory(path, true, complete)
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            var directory = FilePath(path)
            while directory != root {
                try #expect(directory.fileProtection == .complete)
                directory.removeLastComponent()
            }
            // No temporary directory is left.
            try #expect(entryCount(root.appending("\(round)/a/b")) == 1)
        }
        #expect(failures.withLock { $0 }.isEmpty)
        try #expect(entryCount(root) == 100)
    }

    @Test(
        "no class is stored on new directories that all programs share, unless it is asked for",
        arguments: ["home", "link"])
    func sharedDirectories(_ name: String) throws {
        let root = try temporaryDirectory {
            File("home/settings/user-dirs.dirs", "XDG_MUSIC_DIR=\"$HOME/mine/songs\"\n")
            SymbolicLink("link", to: "home")
        }
        let home = root.appending("home")
        func create(_ path: String) throws {
            try Command(
                .built("foundation-tool"), "create-directory", "\(root)/\(name)/\(path)",
                environment: [
                    "HOME": home.string, "XDG_STATE_HOME": "\(home)/var/state/all",
                    "XDG_CONFIG_HOME": "\(home)/settings",
                ]
            ).runSuccessfully()
        }
        func stored(_ path: String) throws -> FileProtection? {
            try home.appending(path).fileProtection
        }
        for (shared, own) in [
            (".local/share", "photo-cache/a"), ("mine/songs", "x/y"),
            ("Pictures", "album/b"), ("var/state/all", "p/q"), (".config", "one/two"),
        ] {
            try create("\(shared)/\(own)")
            var path = FilePath(shared)
            while !path.isEmpty {
                try #expect(stored(path.string) == nil, "\(path)")
                path.removeLastComponent()
            }
            let top = try #require(FilePath(own).components.first)
            try #expect(stored("\(shared)/\(top)") == .complete, "\(shared)")
            try #expect(stored("\(shared)/\(own)") == .complete, "\(shared)")
        }
        // The same names elsewhere, and a directory that is itself asked for.
        try create("own/.local/share")
        try create("Documents")
        for path in ["own", "own/.local", "own/.local/share", "Documents"] {
            try #expect(stored(path) == .complete, "\(path)")
        }
    }

    @Test("attributes are those of each new directory, as with Foundation, and of no other")
    func attributesOfIntermediates() throws {
        let root = try temporaryDirectory()
        for (name, create) in [
            ("foundation", createFoundationDirectory), ("ours", createDirectory),
        ] {
            let top = root.appending(name)
            try Tree { Directory("\(name)").permissions(0o755) }
                .create(in: root)
            try create("\(top)/vault/keys", true, [.posixPermissions: 0o700])
            try create("\(top)/vault/keys", true, [.posixPermissions: 0o711])
            try create("\(top)", true, [.posixPermissions: 0o711])
            try #expect(top.appending("vault/keys").status().permissions == 0o700, "\(name)")
            try #expect(top.appending("vault").status().permissions == 0o700, "\(name)")
            try #expect(top.status().permissions == 0o755, "\(name)")
        }
    }

    @Test(
        "the root directory and paths that end in dots exist, as for Foundation",
        arguments: ["/", "/.", "/..", "/tmp/.", "/tmp/.."])
    func roots(_ path: String) throws {
        for create in [createFoundationDirectory, createDirectory] {
            try create(path, true, nil)
            expectError(.fileWriteFileExists) { try create(path, false, nil) }
        }
    }

    @Test("a path with dots between names that do not exist yet is created")
    func dots() throws {
        let root = try temporaryDirectory()
        try createDirectory("\(root)/a/./b/../c/.", true, nil)
        try #expect(root.appending("a/c").status().kind == .directory)
    }

    @Test("what is in the way is an error; a directory may be there already, and stays as it is")
    func inTheWay() throws {
        let root = try temporaryDirectory {
            Directory("d"); File("f"); SymbolicLink("l", to: "nowhere")
        }
        expectError(.fileWriteFileExists) { try createDirectory("\(root)/d", false, complete) }
        for name in ["f", "l"] {
            expectError(.fileWriteFileExists) {
                try createDirectory("\(root)/\(name)", true, complete)
            }
            #expect(cocoaCode { try createDirectory("\(root)/\(name)/d", true, nil) } != nil)
        }
        try createDirectory("\(root)/d", true, complete)
        try #expect(root.appending("d").marks() == Marks.none)
        try #expect(entryCount(root) == 3)
    }

    @Test("a new item is never more accessible than its attributes say, which must be storable")
    func newItems() throws {
        let root = try temporaryDirectory()
        let created: [FileAttributeKey: Any] = [.creationDate: Date.distantPast]
        expectError(.featureUnsupported) { try createDirectory("\(root)/d", true, created) }
        #expect(!manager.createFile(atPath: "\(root)/g", contents: nil, attributes: created))
        try #expect(entryCount(root) == 0)
        #expect(
            manager.createFile(
                atPath: "\(root)/f", contents: nil, attributes: [.posixPermissions: 0o600]))
        try #expect(root.appending("f").status().permissions == 0o600)
    }
}
