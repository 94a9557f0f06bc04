@testable import resval

/// Reads any bytes as an older output of `usage --json`: never a crash, and what is accepted is a tree of
/// directories whose sums hold.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzFormerUsage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var usage = FormerUsage()
    for line in bytes.split(separator: 0x0A) where !usage.add(line) { return 0 }
    var sums = usage.directories.map(\.own)
    for (index, directory) in usage.directories.enumerated().reversed() {
        precondition(directory.own >= 0 && sums[index] == directory.allocated)
        guard let parent = directory.parent else { continue }
        precondition(parent < index)
        sums[parent] += directory.allocated
    }
    return 0
}
