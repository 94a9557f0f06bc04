import Glibc
import SystemPackage

/// What the command line asks for.
struct Options: Sendable {
    var threadCount = 2
    var staysOnFilesystem = false
    var followsRoots = true
    var stopAfter = Int.max
    var isSummary = false
    var roots: [FilePath] = []

    init(_ arguments: some Sequence<String>) {
        // Roots as bytes: CommandLine.arguments repairs what is not UTF-8.
        var index = 1
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
