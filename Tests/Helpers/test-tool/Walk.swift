import FileTree
import Glibc
import SystemCalls
import SystemPackage

/// `walk [--threads N] [--one-filesystem] [--no-follow] [--stop-after N] [--summary] ROOT…`
///
/// Walks trees in a process of its own, for tests that need another user, fewer descriptors or no
/// xattrat calls. Prints every path it visits, then what could not be read as `! CODE PATH`, each
/// NUL-ended. With --summary prints counts instead, one on each line, and what the walk left behind.
func runWalk(_ arguments: [String]) {
    let options = WalkOptions(arguments)
    let before = ProcessState()
    let report = WalkReport()
    do {
        try report.walk(options)
        let after = ProcessState()
        if options.isSummary {
            report.printSummary(before, after)
        } else {
            try report.printAll()
        }
    } catch {
        print("! \(error)")
        exit(2)
    }
}

/// The options and operands of `walk`.
struct WalkOptions: Sendable {
    var threadCount = 2
    var staysOnFilesystem = false
    var followsRoots = true
    var stopAfter = Int.max
    var isSummary = false
    var roots: [FilePath] = []

    init(_ arguments: [String]) {
        // Roots as bytes: CommandLine.arguments repairs what is not UTF-8.
        var index = Int(CommandLine.argc) - arguments.count
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--threads":
                threadCount = iterator.next().flatMap { Int($0) } ?? threadCount
                index += 1
            case "--stop-after":
                stopAfter = iterator.next().flatMap { Int($0) } ?? stopAfter
                index += 1
            case "--one-filesystem": staysOnFilesystem = true
            case "--no-follow": followsRoots = false
            case "--summary": isSummary = true
            default:
                if let bytes = CommandLine.unsafeArgv[index] {
                    roots.append(FilePath(platformString: bytes))
                }
            }
            index += 1
        }
    }
}

/// What a walk must leave as it was, and the memory it took.
struct ProcessState {
    let descriptorCount = entryCount("/proc/self/fd")
    let workingDirectory = try? symbolicLinkTarget(FilePath("/proc/self/cwd").withoutFollowing)
    let peakKibibytes = highWaterMark()
}

private func entryCount(_ directory: FilePath) -> Int {
    var count = 0
    try? forEachName(in: directory) { _ in
        count += 1
        return true
    }
    return count
}

/// `VmHWM` of `/proc/self/status`; -1 when it cannot be read.
private func highWaterMark() -> Int {
    let text = (try? contentsOfFile("/proc/self/status")) ?? []
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("VmHWM:") }
    return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? -1
}
