import SystemPackage
import Testing

@testable import SystemCalls

@Suite("Paths that others wrote")
struct RelativePathTests {
    @Test("names that lead down are taken, byte for byte")
    func plain() throws {
        let path = try #require(RelativePath(Array("a/-b/...".utf8) + [0x2F, 0xFF, 0x0A]))
        #expect(
            path.names == [Array("a".utf8), Array("-b".utf8), Array("...".utf8), [0xFF, 0x0A]])
        #expect(path.path.bytes == Array("a/-b/...".utf8) + [0x2F, 0xFF, 0x0A])
        #expect(RelativePath(absolute: Array("/a/-b/...".utf8) + [0x2F, 0xFF, 0x0A]) == path)
    }

    @Test(
        "a path that could lead elsewhere is refused",
        arguments: ["", "/", "/a", ".", "..", "a/..", "../a", "a/./b", "a//b", "a/", "a\0b", "\0"])
    func refused(text: String) {
        #expect(RelativePath(Array(text.utf8)) == nil)
        #expect(RelativePath(absolute: Array("/\(text)".utf8)) == nil)
        #expect(FilePath(plainAbsolute: Array("/\(text)".utf8)) == (text.isEmpty ? "/" : nil))
    }

    @Test("an absolute path begins with one slash", arguments: ["a", "a/b", "-a", "//", "//a"])
    func absolute(text: String) {
        #expect(RelativePath(absolute: Array(text.utf8)) == nil)
        #expect(FilePath(plainAbsolute: Array(text.utf8)) == nil)
    }
}
