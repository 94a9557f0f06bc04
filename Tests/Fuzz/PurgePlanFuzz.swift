import SystemCalls

@testable import PurgePlanning

/// Reads any bytes as a plan: never a crash, and what is accepted is written back as the same plan, of
/// paths that are absolute and the one way to write them.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzPurgePlan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // What no fuzzer finds stands in front of a second attempt.
    let head = """
        {"type":"purge-plan","version":1,"created":"2026-01-31T08:05:09Z","bootID":"x","device":1,\
        "wantedBytes":1,"wantedInodes":1,"roots":[],"units":[{"class":"caches",\
        "isDirectory":true,"device":1,"inode":1,"bytes":1,"itemCount":1,"size":1,"contentModificationTime":"@-1.000000000",\
        "attributeModificationTime":"@-1.000000000","newestChange":"@-1.000000000",
        """
    for text in [bytes, Array(head.utf8) + bytes + Array("}]}".utf8)] {
        guard let plan = try? PurgePlan(json: text) else { continue }
        precondition((try? PurgePlan(json: plan.json)) == plan)
        for unit in plan.units {
            let names = unit.path.split(separator: 0x2F, omittingEmptySubsequences: false)
            precondition(names.count > 1 && names[0].isEmpty && unit.identity.device == plan.device)
            precondition(
                names.dropFirst().allSatisfy { !$0.isEmpty && $0 != [0x2E] && $0 != [0x2E, 0x2E] })
        }
    }
    return 0
}
