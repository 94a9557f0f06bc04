import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Protection through the file manager")
struct AttributeTests {
    @Test("a class among other attributes is stored, and read back")
    func mixedAttributes() throws {
        try withTemporaryDirectory(containing: Tree { File("f") }) { root in
            let file = root.appending("f")
            let attributes: [FileAttributeKey: Any] = [
                .posixPermissions: 0o600, .protectionKey: FileProtectionType.completeUnlessOpen,
            ]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: file.string)
            try #expect(file.fileProtection == .completeUnlessOpen)
            try #expect(file.status().permissions == 0o600)
            let read = try FileManager.default.attributesOfItem(atPath: file.string)
            #expect(read[.protectionKey] as? FileProtectionType == .completeUnlessOpen)
            #expect(read[.size] != nil)
        }
    }

    @Test("a class that does not exist is an error, and nothing is changed")
    func unknownClass() throws {
        try withTemporaryDirectory(containing: Tree { File("f").permissions(0o644) }) { root in
            let file = root.appending("f")
            let attributes: [FileAttributeKey: Any] = [
                .posixPermissions: 0o600, .protectionKey: FileProtectionType(rawValue: "secret"),
            ]
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(attributes, ofItemAtPath: file.string)
                } == .featureUnsupported)
            try #expect(file.status().permissions == 0o644)
            try #expect(file.marks() == Marks.none)
        }
    }

    @Test("a class on a missing item or on a link is an error")
    func noSuchItem() throws {
        let tree = Tree {
            File("f"); SymbolicLink("l", to: "f")
        }
        try withTemporaryDirectory(containing: tree) { root in
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(
                        [.protectionKey: FileProtectionType.complete], ofItemAtPath: "\(root)/none")
                } == .fileNoSuchFile)
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(
                        [.protectionKey: FileProtectionType.complete], ofItemAtPath: "\(root)/l")
                } == .featureUnsupported)
            try #expect(root.appending("f").marks() == Marks.none)
        }
    }

    @Test("what is made in a directory takes its class, unless it is given another")
    func inheritsClass() throws {
        try withTemporaryDirectory { root in
            let manager = FileManager.default
            let top = root.appending("top")
            try manager.createDirectory(
                at: top.url, withIntermediateDirectories: true,
                attributes: [.protectionKey: FileProtectionType.complete])
            try manager.createDirectory(
                atPath: "\(top)/a/b", withIntermediateDirectories: true)
            #expect(manager.createFile(atPath: "\(top)/a/b/f", contents: Data("x".utf8)))
            try Data("x".utf8).write(to: top.appending("g").url)
            for name in ["a", "a/b", "a/b/f", "g"] {
                try #expect(
                    top.appending(name).fileProtection == .complete, "\(name)")
            }
            let other: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.none]
            #expect(manager.createFile(atPath: "\(top)/h", contents: nil, attributes: other))
            try #expect(top.appending("h").fileProtection == FileProtection.none)
        }
    }

    @Test("a directory that exists is an error, or with intermediates stays as it is")
    func existingDirectory() throws {
        try withTemporaryDirectory(
            containing: Tree {
                Directory("d"); File("f")
            }
        ) { root in
            let manager = FileManager.default
            let attributes = [FileAttributeKey.protectionKey: FileProtectionType.complete]
            #expect(
                cocoaCode {
                    try manager.createDirectory(
                        atPath: "\(root)/d", withIntermediateDirectories: false,
                        attributes: attributes)
                } == .fileWriteFileExists)
            #expect(
                cocoaCode {
                    try manager.createDirectory(
                        atPath: "\(root)/f", withIntermediateDirectories: true,
                        attributes: attributes)
                } == .fileWriteFileExists)
            try manager.createDirectory(
                atPath: "\(root)/d", withIntermediateDirectories: true, attributes: attributes)
            try #expect(root.appending("d").marks() == Marks.none)
        }
    }

    @Test("classes are compared, counted and told apart in a switch")
    func comparing() {
        let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
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
