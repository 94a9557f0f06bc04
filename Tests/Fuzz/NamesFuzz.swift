import SystemCalls

@testable import CommandSupport

/// Prints and carries any name: nothing of it can drive a terminal, and no two look alike.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzNames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let name = Array(UnsafeBufferPointer(start: start, count: count)).filter { $0 != 0 }
    let shown = NameEscaping.text(name)
    precondition(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    precondition(!shown.unicodeScalars.contains { (0x80..<0xA0).contains($0.value) })
    let isEscaped = shown.utf8.starts(with: "$'".utf8) || name.isEmpty
    precondition(isEscaped || shown.utf8.elementsEqual(name))
    precondition(isOneWord(ShellWord.quoted(name)))
    precondition(ArgumentBytes.bytes(of: ArgumentBytes.text(carrying: name)) == name)
    return 0
}

private let unquoted = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,".utf8)

/// Whether a shell reads a text as one word without expanding anything: outside of quotes there are
/// only quoted quotes and bytes that mean nothing to a shell.
private func isOneWord(_ text: String) -> Bool {
    if text.utf8.starts(with: "$'".utf8) { return true }
    var (isQuoted, rest) = (false, text.utf8[...])
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "'") {
            isQuoted.toggle()
        } else if !isQuoted, byte == UInt8(ascii: "\\") {
            guard rest.popFirst() == UInt8(ascii: "'") else { return false }
        } else if !isQuoted, !unquoted.contains(byte) {
            return false
        }
    }
    return !isQuoted
}
