import ResourceValues
import SystemPackage

@testable import resval

/// Reads any bytes as a line of a dump and of a journal: never a crash, never a path that leads out of
/// the root, and what is read is written back as a line that means the same.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzDump(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let record = try? DumpRecord(line: bytes) {
        if case .item(let path, let marks) = record {
            precondition(!marks.isEmpty && !marks.areBroken)
            precondition(
                path.names.allSatisfy { !$0.isEmpty && $0 != [0x2E] && $0 != [0x2E, 0x2E] })
            precondition(!path.names.contains { $0.contains(0x2F) || $0.contains(0) })
        }
        precondition((try? DumpRecord(line: record.line.dropLast())) == record)
    }
    if let entry = try? JournalEntry(line: bytes[...]) {
        precondition(entry.path.isAbsolute)
        precondition((try? JournalEntry(line: entry.line[...])) == entry)
    }
    return 0
}
