import StoragePolicy
import SystemPackage

@testable import CommandSupport
@testable import resval_backup

/// Reads any text as a configuration file: never a crash, and a mistake in the text has its line.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzSettings(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let lineCount = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    // What every file needs stands in front of a second attempt.
    let head = "sources = [\"~\"]\nrepository = \"/r\"\n"
    for (text, lines) in [(text, lineCount), (head + text, lineCount + 2)] {
        do throws(SettingsError) {
            let settings = try BackupSettings(text, home: "/home/ada")
            precondition(!settings.sources.isEmpty)
        } catch {
            if let line = error.line { precondition((1...lines).contains(line)) }
            let isNamed = error.line != nil || !error.description.contains("not valid TOML")
            precondition(isNamed)
        }
    }
    return 0
}
