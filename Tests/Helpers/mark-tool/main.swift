// mark-tool get|set|unset PATH
// mark-tool set-often excluded|purgeable COUNT PATH
//
// Uses the library as a process of its own, for tests that need another user or several writers.
// Prints the value, or `unset`; on trouble the error's code, and exits with 2.

import Glibc
import ResourceValues
import SystemPackage

private func argument(_ index: Int) -> String {
    CommandLine.arguments.indices.contains(index) ? CommandLine.arguments[index] : ""
}

private func run() throws -> String {
    switch argument(1) {
    case "get":
        return try FilePath(argument(2)).value(for: .isExcludedFromBackup)?.attributeText ?? "unset"
    case "set":
        try FilePath(argument(2)).setValue(true, for: .isExcludedFromBackup)
        return "set"
    case "unset":
        return try FilePath(argument(2)).removeValue(for: .isExcludedFromBackup)
            ? "removed" : "unset"
    case "set-often":
        let key: StoredKey = argument(2) == "purgeable" ? .isPurgeable : .isExcludedFromBackup
        for turn in 0..<(Int(argument(3)) ?? 0) {
            try FilePath(argument(4)).setValue(turn % 2 == 1, for: key)
            guard try FilePath(argument(4)).value(for: key) == (turn % 2 == 1) else {
                return "lost"
            }
        }
        return "done"
    default:
        return "usage"
    }
}

do {
    print(try run())
} catch let error as FileError {
    print(error.code)
    exit(2)
}
