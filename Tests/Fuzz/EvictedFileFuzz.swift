import EffectiveValues
import SystemCalls

@testable import Eviction

/// Reads any bytes as the record of an evicted file: never a crash, and what is accepted is exactly what
/// would be written. The hash at the end, which no fuzzer finds, is added to a second attempt.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzEvictedFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let hashed = bytes + Array("hash \(SHA256.digest(of: bytes))\n".utf8)
    for text in [bytes, hashed] {
        if let file = try? EvictedFile(text: text) { precondition(file.text == text) }
    }
    if let name = RecordName(bytes) { precondition(name.path.bytes == bytes) }
    return 0
}
