import EffectiveValues
import SystemCalls

@testable import PurgePlanning

/// Reads any bytes as lines of tmpfiles.d, as a list of what is no cache and as a pattern: never a
/// crash, and matching always ends.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzTemporaryFiles(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = Array("x ".utf8) + bytes
    let kept = KeptPaths(TemporaryFilesLine.lines(in: lines))
    var position = kept.root
    for name in bytes.split(separator: 0x2F) {
        position = kept.step(from: position, to: Array(name)).1
    }
    _ = bytes.withUnsafeBytes { NotACache(list: bytes).reason(in: .top, $0) }
    let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    if halves.count == 2 {
        let pattern = NamePattern(halves[0])
        _ = pattern.matches(Array(halves[1]))
        // A pattern with everything escaped means itself.
        let literal = NamePattern(halves[1].flatMap { [UInt8(ascii: "\\"), $0] })
        precondition(literal.matches(Array(halves[1])))
    }
    precondition(NamePattern("*".utf8).matches(bytes))
    return 0
}
