import SystemCalls

@testable import EffectiveValues
@testable import PurgePlanning

/// Reads any bytes as a purge journal, as one of its records, and as the record of a plan: never a
/// crash, and what is accepted is written back as the same.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzPurgeRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    _ = JournalContents(bytes)
    if var fields = try? JSONFields(bytes[...]), let record = AsideRecord(&fields) {
        // The checksum, which no fuzzer finds, is added.
        let contents = JournalContents(sequence: 1, records: [record])
        if let place = contents.bytes(upTo: PurgeJournal.slotSize) {
            precondition(JournalContents(place)?.records == [record])
        }
    }
    if let record = PurgeRecord(bytes) {
        precondition(record.bytes >= 0)
        precondition(PurgeRecord(record.line) == record)
    }
    return 0
}
