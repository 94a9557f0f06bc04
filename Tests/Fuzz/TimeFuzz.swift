@testable import SystemCalls

/// Reads any bytes as a time, and takes any bytes for one: never a crash, and what is read or is a
/// file's time is read back as it is written.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzTime(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let time = FileTime(rfc3339: bytes) {
        precondition(time.nanoseconds < 1_000_000_000)
        precondition(FileTime(rfc3339: time.rfc3339.utf8) == time)
    }
    guard bytes.count >= 12 else { return 0 }
    let seconds = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    let nanoseconds = bytes[8..<12].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    let time = FileTime(
        seconds: Int64(bitPattern: seconds), nanoseconds: nanoseconds % 1_000_000_000)
    precondition(FileTime(rfc3339: time.rfc3339.utf8) == time)
    let date = CalendarDate(secondsSince1970: time.seconds)
    precondition((1...12).contains(date.month) && (1...31).contains(date.day))
    _ = time.localText
    return 0
}
