// two-keys DIRECTORY ROUNDS
//
// Measures what a program pays for two keys of a file through the library: reads
// isExcludedFromBackup and isPurgeable of every file in DIRECTORY by path, ROUNDS times over.
//
// Prints one line: nanoseconds per file, a space, and how many answers were true. Paths are made
// before the clock starts.

import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

/// Collects the paths of the regular files below a root.
struct PathCollector: TreeVisitor {
    let paths: FoundPaths

    func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        if entry.kind == .regularFile { paths.add(entry.path) }
        return .descend(())
    }

    func cannotRead(_ error: FileError) { paths.fail(error) }

    func finish() {}
}

final class FoundPaths: Sendable {
    private let found: Monitor<[FilePath]> = Monitor([])
    private let failure: Monitor<FileError?> = Monitor(nil)

    func add(_ path: FilePath) { found.withLock { $0.append(path) } }

    func fail(_ error: FileError) { failure.withLock { $0 = error } }

    func all() throws -> [FilePath] {
        if let error = failure.withLock({ $0 }) { throw error }
        return found.withLock { $0 }
    }
}

func trueAnswers(_ paths: [FilePath]) throws -> Int {
    var count = 0
    for path in paths {
        if try path.value(for: .isExcludedFromBackup) == true { count += 1 }
        if try path.value(for: .isPurgeable) == true { count += 1 }
    }
    return count
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let rounds = Int(arguments[2]), rounds > 0 else {
    print("usage: two-keys DIRECTORY ROUNDS")
    throw FileError(code: .other, message: "usage")
}
let found = FoundPaths()
try TreeScanner().scan([TreeRoot(FilePath(arguments[1]))]) { _ in PathCollector(paths: found) }
let paths = try found.all()
var answers = 0
let elapsed = try ContinuousClock().measure {
    for _ in 0..<rounds { answers += try trueAnswers(paths) }
}
let nanoseconds = elapsed / .nanoseconds(1) / Double(paths.count * rounds)
print(nanoseconds, answers)
