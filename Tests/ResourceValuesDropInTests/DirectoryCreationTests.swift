import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Creating directories")
struct DirectoryCreationTests {
    @Test("what many threads create at the same time exists, and no thread fails")
    func race() throws {
        try withTemporaryDirectory { root in
            let failures = Monitor<[String]>([])
            for round in 0..<100 {
                let path = "\(root)/\(round)/a/b/c/d"
                DispatchQueue.concurrentPerform(iterations: 16) { _ in
                    do {
                        try FileManager.default.createDirectory(
                            atPath: path, withIntermediateDirectories: true,
                            attributes: [.protectionKey: FileProtectionType.complete])
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
    }

    @Test(
        "no class is stored on new directories that all programs share, unless it is asked for",
        arguments: ["home", "link"])
    func sharedDirectories(_ name: String) throws {
        let tree = Tree {
            Directory("home") {
                Directory("settings") {
                    File("user-dirs.dirs", "XDG_MUSIC_DIR=\"$HOME/mine/songs\"\n")
                }
            }
            SymbolicLink("link", to: "home")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let home = root.appending("home")
            func create(_ path: String) throws {
                var command = Command(
                    .built("foundation-tool"), "create-directory", "\(root)/\(name)/\(path)")
                command.environment = [
                    "HOME": home.string, "XDG_STATE_HOME": "\(home)/var/state/all",
                    "XDG_CONFIG_HOME": "\(home)/settings",
                ]
                try command.runSuccessfully()
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
            for path in ["own", "own/.local", "own/.local/share"] {
                try #expect(stored(path) == .complete, "\(path)")
            }
            try create("Documents")
            try #expect(stored("Documents") == .complete)
        }
    }

    @Test("attributes are those of each new directory, as with Foundation, and of no other")
    func attributesOfIntermediates() throws {
        try withTemporaryDirectory { root in
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            for (name, create) in [
                ("foundation", createFoundationDirectory), ("ours", createDirectory),
            ] {
                let top = root.appending(name)
                try Tree { Directory(FileName(Array(name.utf8))).permissions(0o755) }
                    .create(in: root)
                try create("\(top)/vault/keys", true, attributes)
                try create("\(top)/vault/keys", true, [.posixPermissions: 0o711])
                try create("\(top)", true, [.posixPermissions: 0o711])
                try #expect(top.appending("vault/keys").status().permissions == 0o700, "\(name)")
                try #expect(top.appending("vault").status().permissions == 0o700, "\(name)")
                try #expect(top.status().permissions == 0o755, "\(name)")
            }
        }
    }

    @Test("directories that their owner may not write to are created whole")
    func readOnlyDirectories() throws {
        try withTemporaryDirectory { root in
            try FileManager.default.createDirectory(
                atPath: "\(root)/a/b", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o500])
            try #expect(root.appending("a").status().permissions == 0o500)
            try #expect(root.appending("a/b").status().permissions == 0o500)
        }
    }

    @Test(
        "the root directory and paths that end in dots exist, as for Foundation",
        arguments: ["/", "/.", "/..", "/tmp/.", "/tmp/.."])
    func roots(_ path: String) throws {
        for create in [createFoundationDirectory, createDirectory] {
            #expect(cocoaCode { try create(path, true, nil) } == nil)
            #expect(cocoaCode { try create(path, false, nil) } == .fileWriteFileExists)
        }
    }

    @Test("a path with dots between names that do not exist yet is created")
    func dots() throws {
        try withTemporaryDirectory { root in
            try createDirectory("\(root)/a/./b/../c/.", true, nil)
            try #expect(root.appending("a/c").status().kind == .directory)
        }
    }

    @Test("a file or a link to nowhere in the way is an error")
    func inTheWay() throws {
        let tree = Tree {
            File("f"); SymbolicLink("l", to: "nowhere")
        }
        try withTemporaryDirectory(containing: tree) { root in
            #expect(
                cocoaCode { try createDirectory("\(root)/f", true, nil) } == .fileWriteFileExists)
            #expect(
                cocoaCode { try createDirectory("\(root)/l", true, nil) } == .fileWriteFileExists)
            #expect(cocoaCode { try createDirectory("\(root)/f/d", true, nil) } != nil)
            #expect(cocoaCode { try createDirectory("\(root)/l/d", true, nil) } != nil)
            try #expect(entryCount(root) == 2)
        }
    }

    @Test("an attribute that cannot be set is an error")
    func unsettable() throws {
        try withTemporaryDirectory { root in
            #expect(
                cocoaCode {
                    try createDirectory("\(root)/d", true, [.creationDate: Date.distantPast])
                } == .featureUnsupported)
            try #expect(entryCount(root) == 0)
        }
    }

    @Test("a new file is never more accessible than its attributes say")
    func newFile() throws {
        try withTemporaryDirectory { root in
            #expect(
                FileManager.default.createFile(
                    atPath: "\(root)/f", contents: nil, attributes: [.posixPermissions: 0o600]))
            try #expect(root.appending("f").status().permissions == 0o600)
            #expect(
                !FileManager.default.createFile(
                    atPath: "\(root)/g", contents: nil, attributes: [.creationDate: Date()]))
            try #expect(entryCount(root) == 1)
        }
    }
}

private func createDirectory(
    _ path: String, _ createsIntermediates: Bool, _ attributes: [FileAttributeKey: Any]?
) throws {
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: createsIntermediates, attributes: attributes)
}
