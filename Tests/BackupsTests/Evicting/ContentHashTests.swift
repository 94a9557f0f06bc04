import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("The hash of content, SHA-256")
struct ContentHashTests {
    @Test("of a file that grows without end no more is read than was asked for")
    func endless() throws {
        let file = OwnedDescriptor(try openFile(FilePath("/dev/zero"), flags: .readOnly))
        #expect(try ContentHash(of: file.descriptor, upTo: 5) { false } != ContentHash(of: []))
    }

    @Test("it does not depend on the pieces that content comes in, and is what sha256sum tells")
    func pieces() throws {
        var numbers = SeededNumbers(seed: 7)
        for length in [0, 1, 55, 56, 57, 63, 64, 65, 119, 128, 1000, 70_001] {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &numbers) }
            var hasher = SHA256()
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...200, using: &numbers))
                piece.withUnsafeBytes { hasher.update($0) }
                rest = rest.dropFirst(piece.count)
            }
            #expect(hasher.count == length)
            let expected = try Command(
                "/usr/bin/sha256sum", input: bytes
            ).runSuccessfully().prefix(64)
            #expect(hasher.finish() == expected, "\(length) bytes")
            #expect(ContentHash(hexadecimal: Array(expected.utf8)) == ContentHash(of: bytes))
        }
    }

    @Test("text that is no hash is none", arguments: ["", "ab", String(repeating: "G", count: 64)])
    func noHash(text: String) {
        #expect(ContentHash(hexadecimal: Array(text.utf8)) == nil)
    }
}
