@testable import ResourceValues

/// Reads any bytes as each type of value: never a crash, and what is read has few spellings.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzAttributeValue(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    check(.isPurgeable, bytes, alsoWritten: ["1", "0"])
    check(.fileProtection, bytes, alsoWritten: [])
    return 0
}

private func check(_ key: StoredKey, _ bytes: [UInt8], alsoWritten: [String]) {
    guard let value = bytes.withUnsafeBytes({ key.decode($0) }) else { return }
    precondition(bytes.count <= 64)
    precondition(key.accepts(value))
    precondition(Array(value.text.utf8).withUnsafeBytes { key.decode($0) } == value)
    let ends = bytes.last == 0 || bytes.last == UInt8(ascii: "\n")
    let text = String(decoding: ends ? bytes.dropLast() : bytes[...], as: UTF8.self)
    precondition(text.lowercased() == value.text.lowercased() || alsoWritten.contains(text))
}
