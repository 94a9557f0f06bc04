import ResourceValues
import SystemPackage

@testable import resval

/// Reads any bytes as a line of a journal or of saved marks: never a crash, and what is read is written
/// back as a line that means the same.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzMarkLine(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let line = MarkLine(bytes) else { return 0 }
    if case .change(let change) = line {
        precondition(!change.path.isEmpty && !change.path.contains(0))
        precondition(change.old != change.mark.bytes)
    }
    precondition(MarkLine(line.line.dropLast()) == line)
    return 0
}
