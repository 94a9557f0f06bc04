import CommandSupport
import SystemCalls
import SystemPackage
import Testing

@Suite("Argument bytes")
struct ArgumentBytesTests {
    @Test("every byte comes back exactly, alone and between others", arguments: UInt8(1)...255)
    func everyByte(byte: UInt8) {
        for bytes in [
            [byte], [0x61, byte, 0x62], [byte, byte, byte], [0xC3, byte], [byte, 0xA9],
        ] {
            let text = ArgumentBytes.text(carrying: bytes)
            #expect(ArgumentBytes.bytes(of: text) == bytes)
        }
    }

    @Test("characters of the carrying range, and cut ones, come back exactly")
    func carryingRange() {
        let samples = [
            Array("\u{F700}\u{F7FF}x\u{F6FF}\u{F800}".utf8), [0xEF, 0x9C], [0xF0, 0x9F, 0x98],
            [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC0, 0x80],
        ]
        for bytes in samples {
            #expect(ArgumentBytes.bytes(of: ArgumentBytes.text(carrying: bytes)) == bytes)
        }
    }

    @Test("valid UTF-8 travels as itself")
    func validText() {
        let text = "grün 😀 \u{301}"
        #expect(ArgumentBytes.text(carrying: Array(text.utf8)) == text)
    }

    @Test("a path argument keeps its bytes and makes a path of them")
    func pathArgument() {
        let bytes: [UInt8] = Array("d/".utf8) + [0xFF, 0x0A]
        let argument = PathArgument(argument: ArgumentBytes.text(carrying: bytes))
        #expect(argument?.bytes == bytes)
        #expect(argument?.path.bytes == bytes)
    }
}
