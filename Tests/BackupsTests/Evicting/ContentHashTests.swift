import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("The hash of content")
struct ContentHashTests {
    @Test(
        "it is SHA-256, as FIPS 180-4 has its examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(text: String, hash: String) {
        #expect(ContentHash(of: text.utf8).hexadecimal == hash)
        #expect(ContentHash(hexadecimal: Array(hash.utf8)) == ContentHash(of: text.utf8))
    }

    @Test("of a file that grows without end no more is read than was asked for")
    func endless() throws {
        let file = OwnedDescriptor(try openFile(FilePath("/dev/zero"), flags: .readOnly))
        #expect(try ContentHash(of: file.descriptor, upTo: 5) { false } != ContentHash(of: []))
    }

    @Test("it does not depend on the pieces that content comes in, and is what sha256sum tells")
    func pieces() throws {
        var numbers = SeededNumbers(seed: 7)
        for length in [1, 55, 56, 57, 63, 64, 65, 119, 128, 1000, 70_001] {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
            var hasher = SHA256()
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...200, using: &numbers))
                piece.withUnsafeBytes { hasher.update($0) }
                rest = rest.dropFirst(piece.count)
            }
            #expect(hasher.count == length)
            var sum = Command("/usr/bin/sha256sum")
            sum.input = bytes
            let expected = try sum.runSuccessfully().prefix(64)
            #expect(hasher.finish() == expected, "\(length) bytes")
        }
    }

    @Test("text that is no hash is none", arguments: ["", "ab", String(repeating: "G", count: 64)])
    func noHash(text: String) {
        #expect(ContentHash(hexadecimal: Array(text.utf8)) == nil)
    }
}
