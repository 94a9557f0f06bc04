import SystemCalls
import SystemPackage

@testable import EffectiveValues

/// Reads any bytes as rules for what tools re-create: never a crash, a mistake has its line, and what is
/// accepted has a proof and leads down only.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzRules(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let lines: [RuleLine]
    do throws(FileError) {
        lines = try RuleLine.lines(of: bytes, at: nil)
    } catch {
        let words = error.message.split { " :".contains($0) }
        let number = words.count > 1 && words[0] == "line" ? Int(words[1]) : nil
        precondition((1...bytes.count { $0 == 0x0A } + 1).contains(number ?? 0))
        return 0
    }
    let homes = [["home", "ada"].map { Array($0.utf8) }]
    let names = homes[0] + bytes.split(separator: 0x2F).map { Array($0) }
    for line in lines {
        switch line {
        case .installed(let path): _ = path.holds(names, homes: homes)
        case .precious(let name, _): _ = name.matches(bytes)
        case .rule(let rule):
            precondition(rule.proof.contains { !$0.isNegated })
            precondition(rule.names.count == 1 || rule.isBelowHome)
            let paths = rule.proof.flatMap { $0.names.flatMap(\.path) }
            for name in rule.names + rule.clonesInto + paths {
                precondition(![[], [0x2E], [0x2E, 0x2E]].contains(name) && !name.contains(0x2F))
            }
            for name in rule.proof.flatMap(\.names) { _ = name.pattern?.matches(bytes) }
        }
    }
    return 0
}
