import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Copies that would be worse than none", .cleansUp)
struct CopyingTests {
    @Test("a copy of another user's file has no set-ID bits, one of the caller's own keeps them")
    func setID() throws {
        try require(.root)
        let root = try temporaryDirectory {
            File("other").permissions(0o6755).owned(by: 54321); File("own").permissions(0o6755)
        }
        try tool("chmod", "6755", root.appending("other"))
        for (name, bits) in [("other", 0o755), ("own", 0o6755)] as [(FileName, UInt16)] {
            let copy = root.appending("copy of \(String(decoding: name.bytes, as: UTF8.self))")
            try root.appending(name).copyItem(to: copy)
            try #expect(copy.status().permissions == bits, "\(name)")
        }
    }

    @Test("a directory is not copied into itself")
    func intoItself() throws {
        let directory = try temporaryDirectory { Directory("d") { File("f") } }.appending("d")
        let error = #expect(throws: FileError.self) {
            try directory.copyItem(to: directory.appending("copy"))
        }
        #expect(error?.errno == .invalidArgument)
        try #expect(tool("ls", "-A", directory) == "f")
    }

    @Test("an item that replaces another takes its class in place of none, and keeps any other")
    func replacedClass() throws {
        for (own, expected) in [
            (FileProtection.none, FileProtection.complete),
            (.completeUnlessOpen, .completeUnlessOpen),
        ] {
            let root = try temporaryDirectory {
                File("old").protection(.complete); File("new").protection(own)
            }
            let old = root.appending("old")
            try old.replaceItem(with: root.appending("new"))
            try #expect(old.fileProtection == expected)
        }
    }
}
