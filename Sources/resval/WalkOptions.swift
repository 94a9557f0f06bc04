import ArgumentParser
import CommandSupport
import FileTree

/// The options shared by all commands that walk directories.
struct WalkOptions: ParsableArguments {
    @Flag(
        name: [.customShort("x"), .customLong("one-file-system")],
        help: "Do not go into directories on other filesystems.")
    var staysOnFilesystem = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .customLong("threads")],
        help: ArgumentHelp("Walk with this many threads.", valueName: "n"))
    var threadCount: Int?

    func validate() throws {
        if let threadCount, !(1...256).contains(threadCount) {
            throw ValidationError("--threads takes a number from 1 to 256")
        }
    }

    /// Creates a scanner that ends the walk once a stop is requested (`StopRequest.isMade`).
    func scanner() -> TreeScanner {
        TreeScanner(
            threadCount: threadCount ?? TreeScanner.defaultThreadCount,
            staysOnFilesystem: staysOnFilesystem, shouldStop: { StopRequest.isMade })
    }
}
