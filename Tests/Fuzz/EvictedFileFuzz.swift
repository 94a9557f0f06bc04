import EffectiveValues
import ResourceValues
import SystemCalls

/// Reads any bytes as the name of an attribute that is the record of an evicted file: never a crash, and
/// what is accepted is exactly what would be written.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzEvictedFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let record = EvictionRecord(attribute: bytes) {
        precondition(record.attribute.bytes == bytes)
    }
    return 0
}
