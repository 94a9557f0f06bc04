import ResourceValues

@testable import Backups
@testable import SystemCalls

/// Reads any bytes as what restic answers and stores: never a crash, and a scanner always ends.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var files = LostFileLines()
    files.receive(line: bytes[...])
    precondition(files.files.allSatisfy { $0.path.count <= bytes.count })
    precondition(printedName(bytes).count <= bytes.count)
    var whole = JSONScanner(bytes[...])
    _ = try? whole.skipValue()
    var text = JSONScanner(bytes[...])
    if let string = try? text.string() { precondition(string.count <= bytes.count) }
    if let time = FileTime(rfc3339: bytes) { precondition(time.nanoseconds < 1_000_000_000) }
    return 0
}
