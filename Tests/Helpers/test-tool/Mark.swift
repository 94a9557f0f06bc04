import Glibc
import ResourceValues
import SystemPackage

/// `mark get|set|unset PATH`, `mark set-often excluded|purgeable COUNT PATH`
///
/// Uses the library as a process of its own, for tests that need another user or several writers.
/// Prints the value, or `unset`; on failure the error's code, and exits with 2.
func runMark(_ arguments: [String]) {
    do {
        print(try mark(arguments + ["", "", "", ""]))
    } catch let error as FileError {
        print(error.code)
        exit(2)
    } catch {
        print(error)
        exit(2)
    }
}

private func mark(_ arguments: [String]) throws -> String {
    switch arguments[0] {
    case "get":
        return try FilePath(arguments[1]).value(for: .isExcludedFromBackup)?.text
            ?? "unset"
    case "set":
        try FilePath(arguments[1]).setValue(true, for: .isExcludedFromBackup)
        return "set"
    case "unset":
        return try FilePath(arguments[1]).removeValue(for: .isExcludedFromBackup)
            ? "removed" : "unset"
    case "set-often":
        let key: StoredKey = arguments[1] == "purgeable" ? .isPurgeable : .isExcludedFromBackup
        let path = FilePath(arguments[3])
        for turn in 0..<(Int(arguments[2]) ?? 0) {
            try path.setValue(.boolean(turn % 2 == 1), for: key)
            guard try path.value(for: key) == .boolean(turn % 2 == 1) else { return "lost" }
        }
        return "done"
    default:
        return "usage"
    }
}
