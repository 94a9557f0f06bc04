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
        try withFile { file in
            try setAttributes(
                [.posixPermissions: 0o600, .protectionKey: FileProtectionType.completeUnlessOpen],
                of: "\(file)")
            try #expect(file.fileProtection == .completeUnlessOpen)
            try #expect(file.status().permissions == 0o600)
            let read = try manager.attributesOfItem(atPath: "\(file)")
            #expect(read[.protectionKey] as? FileProtectionType == .completeUnlessOpen)
            #expect(read[.size] != nil)
        }
    }

    @Test("a class that does not exist, and one on a missing item or a link, changes nothing")
    func refused() throws {
        let tree = Tree {
            File("f").permissions(0o644); SymbolicLink("l", to: "f")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("what is made in a directory takes its class, unless it is given another")
    func inheritsClass() throws {
        try withTemporaryDirectory { root in
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
