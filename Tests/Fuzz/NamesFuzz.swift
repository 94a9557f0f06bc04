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
    precondition(ArgumentBytes.bytes(of: ArgumentBytes.text(carrying: name)) == name)
    return 0
}
