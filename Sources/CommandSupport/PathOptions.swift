import ArgumentParser
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// The paths that a command works on: arguments, or a list in a file.
package struct PathOptions: ParsableArguments {
    /// The paths given as arguments.
    @Argument(help: "Files and directories. Put -- before names that begin with a dash.")
    package var paths: [PathOperand] = []

    /// The file that lists NUL-terminated paths; `-` means standard input.
    @Option(
        name: .customLong("files0-from"),
        help: ArgumentHelp(
            "Read NUL-ended paths from this file; - is standard input.", valueName: "file"))
    package var list: PathArgument?

    /// Creates options to be filled by the parser.
    package init() {}

    /// Validates that not both paths and `--files0-from` were given.
    package func validate() throws {
        if list != nil && !paths.isEmpty {
            throw ValidationError("give paths or --files0-from, not both")
        }
    }

    /// Validates that paths or `--files0-from` were given.
    package func requirePaths() throws {
        if list == nil && paths.isEmpty {
            throw ValidationError("give at least one path, or --files0-from FILE")
        }
    }

    /// Whether one path was given, and no list.
    package var isSinglePath: Bool { list == nil && paths.count == 1 }

    /// Calls `body` with each path until all are done or a stop is requested.
    ///
    /// Problems with the list itself are reported and noted as failures; paths before and after a
    /// bad record are still processed. A last record without its NUL is not processed, since a
    /// truncated path would name another file.
    ///
    /// - Parameter beforeWaiting: called before a read that may block, so that the results so far
    ///   can be written.
    package func forEach(
        followingSymbolicLinks follows: Bool = true, outcome: Outcome,
        beforeWaiting: () -> Void = {}, _ body: (borrowing ListedPath) -> Void
    ) {
        guard let list else { return forEachArgument(follows, body) }
        let descriptor: FileDescriptor
        do throws(Errno) {
            descriptor =
                list.isDash
                ? .standardInput : try openFile(list.path, flags: [.readOnly, .noTerminal])
        } catch {
            Messages.write(.opening(error, FilePath(bytes: list.bytes)))
            outcome.noteFailure()
            return
        }
        var reader = DelimitedReader(descriptor)
        var directory = ListedDirectory()
        do throws(Errno) {
            try reader.forEach(
                beforeWaiting: {
                    directory.forget()
                    beforeWaiting()
                },
                { record in
                    guard case .whole(let bytes) = record else { return complain(record, outcome) }
                    let parent = directory.parent(of: bytes)
                    body(
                        ListedPath(
                            nulEnded: bytes, followsSymbolicLink: follows, parent: parent))
                })
            if !list.isDash { try closeFile(descriptor) }
        } catch {
            Messages.write(
                about: list.bytes, "the list cannot be read: \(error) (paths so far are done)")
            outcome.noteFailure()
        }
    }

    private func forEachArgument(_ follows: Bool, _ body: (borrowing ListedPath) -> Void) {
        for argument in paths.paths {
            if StopRequest.isMade { return }
            argument.withListedPath(followingSymbolicLink: follows, body)
        }
    }

    private func complain(_ record: DelimitedReader.Record, _ outcome: Outcome) {
        let complaint: String
        switch record {
        case .whole:
            return
        case .empty:
            complaint = "the list contains an empty path (end each path with one NUL)"
        case .tooLong:
            complaint = "a path in the list is longer than 1 MiB (end each path with a NUL)"
        case .cutShort(let bytes):
            let start = NameEscaping.text(Array(bytes.prefix(100)))
            let dots = bytes.count > 100 ? "…" : ""
            complaint =
                "the list ends without a NUL after \(start)\(dots), which was skipped "
                + "(end each path with a NUL, as find -print0 does)"
        }
        Messages.write(about: list?.bytes, complaint)
        outcome.noteFailure()
    }
}
