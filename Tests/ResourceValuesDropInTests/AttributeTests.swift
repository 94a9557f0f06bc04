import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Protection through the file manager", .cleansUp)
struct AttributeTests {
    @Test("a class among other attributes is stored, and read back")
    func mixedAttributes() throws {
        let file = try temporaryFile()
        try setAttributes(
            [.posixPermissions: 0o600, .protectionKey: FileProtectionType.completeUnlessOpen],
            of: "\(file)")
        try #expect(file.fileProtection == .completeUnlessOpen)
        try #expect(file.status().permissions == 0o600)
        let read = try manager.attributesOfItem(atPath: "\(file)")
        #expect(read[.protectionKey] as? FileProtectionType == .completeUnlessOpen)
        #expect(read[.size] != nil)
    }

    @Test("a class that does not exist, and one on a missing item or a link, changes nothing")
    func refused() throws {
        let root = try temporaryDirectory {
            File("f").permissions(0o644); SymbolicLink("l", to: "f")
        }
        let file = root.appending("f")
        expectError(.featureUnsupported) {
            try setAttributes(
                [.posixPermissions: 0o600, .protectionKey: FileProtectionType(rawValue: "no")],
                of: "\(file)")
        }
        expectError(.fileNoSuchFile) { try setAttributes(complete, of: "\(root)/none") }
        expectError(.featureUnsupported) { try setAttributes(complete, of: "\(root)/l") }
        try #expect(file.status().permissions == 0o644)
        try #expect(file.marks() == Marks.none)
    }

    /// SwiftyBeaver's FileDestination gives its log the class `none` in this way.
    @Test("attributes that are read, changed and written change only what was changed")
    func readAndWritten() throws {
        let root = try temporaryDirectory {
            Directory("d") {
                File("log").protection(.complete).purgeable(); File("plain"); File("other")
            }.protection(.completeUnlessOpen)
        }
        let directory = root.appending("d")
        let (log, other) = (directory.appending("log"), directory.appending("other"))
        var attributes = try manager.attributesOfItem(atPath: "\(log)")
        attributes[.protectionKey] = FileProtectionType.none
        try setAttributes(attributes, of: "\(log)")
        try #expect(log.fileProtection == FileProtection.none)
        // The marks do not travel to others, but the class that was chosen does.
        try setAttributes(attributes, of: "\(other)")
        try #expect(other.marks() == Marks(fileProtection: FileProtection.none))
        attributes = try manager.attributesOfItem(atPath: "\(directory)/plain")
        attributes[.posixPermissions] = 0o755
        for name in ["plain", "new", "directory"] {
            let path = directory.appending(name)
            switch name {
            case "plain": try setAttributes(attributes, of: "\(path)")
            case "new":
                #expect(
                    manager.createFile(
                        atPath: "\(path)", contents: nil, attributes: attributes))
            default: try createDirectory("\(path)", false, attributes)
            }
            try #expect(path.status().permissions == 0o755, "\(name)")
            let stored: FileProtection? = name == "plain" ? nil : .completeUnlessOpen
            try #expect(path.marks() == Marks(fileProtection: stored), "\(name)")
        }
        attributes[.protectionKey] = FileProtectionType.complete
        try setAttributes(attributes, of: "\(directory)/plain")
        try #expect(directory.appending("plain").fileProtection == .complete)
    }

    @Test("the class is that of the directories above, a string that casts to each type")
    func classFromAbove() throws {
        let root = try temporaryDirectory {
            Directory("d") {
                Directory("e") { File("f") }
                SymbolicLink("l", to: "e/f")
            }.protection(.complete)
        }
        let file = root.appending("d/e/f")
        let value = try manager.attributesOfItem(atPath: "\(file)")[.protectionKey]
        #expect(value as? String == "NSFileProtectionComplete")
        #expect(value as? NSString == "NSFileProtectionComplete")
        #expect(value as? FileProtectionType == .complete)
        let read = try file.url.resourceValues(forKeys: [.fileProtectionKey])
        #expect(read.fileProtection == .complete)
        #expect(read.allValues[.fileProtectionKey] as? URLFileProtection == .complete)
        try Data().write(to: root.appending("g").url)
        for item in [file, root.appending("g")] {
            try item.url.setResourceValues(read)
            try #expect(item.marks() == Marks.none)
        }
        for name in ["g", "d/l"] {
            let attributes = try manager.attributesOfItem(atPath: "\(root)/\(name)")
            #expect(attributes[.protectionKey] == nil, "\(name)")
        }
    }

    @Test("a path with a slash at its end is the directory that a link leads to")
    func slashAtEnd() throws {
        let root = try temporaryDirectory {
            Directory("d") { File("f") }.protection(.complete); SymbolicLink("l", to: "d")
        }
        let link = "\(root)/l/"
        try #expect(manager.subpathsOfDirectory(atPath: link) == ["f"])
        let attributes = try manager.attributesOfItem(atPath: link)
        #expect(attributes[.type] as? FileAttributeType == .typeDirectory)
        #expect(attributes[.protectionKey] as? FileProtectionType == .complete)
    }

    @Test("a file that a program replaces all the time has attributes")
    func replacedAllTheTime() throws {
        let file = try temporaryFile()
        let failures = Monitor<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for _ in 0..<1000 {
                do {
                    if index == 0 {
                        try Data().write(to: file.url, options: .atomic)
                    } else {
                        _ = try manager.attributesOfItem(atPath: "\(file)")
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test("an evicted file keeps its date and its mode, by which a download knows it")
    func evicted() throws {
        try require(.root)
        let file = try temporaryFile("text")
        let record = "user.resval.evicted.fedcba9876543210.0123456789abcdef.0.640.5-0"
        try tool("setfattr", "-n", record, "-v", "1", file)
        try tool("touch", "-d", "@5.123456789", file)
        try tool("chmod", "0", file)
        try setAttributes(manager.attributesOfItem(atPath: "\(file)"), of: "\(file)")
        for attributes in [
            [.modificationDate: Date()], [.posixPermissions: 0o600],
        ] as [[FileAttributeKey: Any]] {
            expectError(.fileWriteNoPermission) { try setAttributes(attributes, of: "\(file)") }
        }
        var values = URLResourceValues()
        values.contentModificationDate = Date()
        expectError(.fileWriteNoPermission) { try file.url.setResourceValues(values) }
        let time = FileTime(seconds: 5, nanoseconds: 123_456_789)
        try #expect(file.status().contentModificationTime == time)
        try #expect(file.status().permissions == 0)
    }

    @Test("a date that the filesystem does not have is an error")
    func impossibleDate() throws {
        let file = try filesystem(.ext4) { File("f") }.root.appending("f")
        var values = URLResourceValues()
        values.contentModificationDate = .distantPast
        expectError(.featureUnsupported) { try file.url.setResourceValues(values) }
    }

    @Test("the immutable flag is an attribute", arguments: [FilesystemKind.ext4, .xfs])
    func immutable(kind: FilesystemKind) throws {
        let filesystem = try filesystem(kind)
        let file = filesystem.root.appending("f")
        #expect(
            manager.createFile(
                atPath: "\(file)", contents: nil,
                attributes: [.immutable: true, .posixPermissions: 0o640]))
        try #expect(file.status().isImmutable)
        try #expect(manager.attributesOfItem(atPath: "\(file)")[.immutable] as? Bool == true)
        expectError(.fileWriteNoPermission) { try setAttributes(complete, of: "\(file)") }
        let protection = FileProtectionType.complete
        try setAttributes([.immutable: false, .protectionKey: protection], of: "\(file)")
        try #expect(file.fileProtection == .complete)
        try #expect(!file.status().isImmutable)
        try #expect(manager.attributesOfItem(atPath: "\(file)")[.immutable] == nil)
        try setAttributes([.immutable: false], of: "/proc/self/status")
    }

    @Test("what is made in a directory takes its class, unless it is given another")
    func inheritsClass() throws {
        let root = try temporaryDirectory()
        let top = root.appending("top")
        try createDirectory("\(top)", true, complete)
        try createDirectory("\(top)/a/b", true, nil)
        #expect(manager.createFile(atPath: "\(top)/a/b/f", contents: Data("x".utf8)))
        try Data("x".utf8).write(to: top.appending("g").url)
        for name in ["a", "a/b", "a/b/f", "g"] {
            try #expect(top.appending(name).fileProtection == .complete, "\(name)")
        }
        let other: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.none]
        #expect(manager.createFile(atPath: "\(top)/h", contents: nil, attributes: other))
        try #expect(top.appending("h").fileProtection == FileProtection.none)
    }

    @Test("classes are compared, counted and told apart in a switch")
    func comparing() {
        let attributes: [FileAttributeKey: Any] = complete
        #expect(attributes[.protectionKey] as? FileProtectionType == .complete)
        #expect(attributes[.protectionKey] as? FileProtectionType != FileProtectionType.none)
        #expect(attributes[.type] as? FileProtectionType == nil)
        #expect(Set<FileProtectionType>([.complete, .none, .complete]).count == 2)
        let type = FileProtectionType.completeWhenUserInactive
        switch type {
        case .complete: Issue.record("another class")
        case .completeWhenUserInactive: break
        default: Issue.record("no class")
        }
    }
}
