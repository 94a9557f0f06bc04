import ArgumentParser
import Glibc
import SystemCalls
import SystemPackage

/// The paths that a command works on: arguments, or a list in a file.
package struct PathOptions: ParsableArguments {
    @Argument(help: "Files and directories; -- before names with a dash.")
    package var paths: [PathOperand] = []

    @Option(
        name: .customLong("files0-from"),
        help: ArgumentHelp(
            "Read NUL-ended paths from this file, or from -.", valueName: "file"))
    package var list: PathArgument?

    package init() {}

    package func validate() throws {
        if list != nil && !paths.isEmpty {
            throw ValidationError("give paths or --files0-from, not both")
        }
    }

    package func requirePaths() throws {
        if list == nil && paths.isEmpty {
            throw ValidationError("give at least one path, or --files0-from FILE")
        }
    }

    package var isSinglePath: Bool { list == nil && paths.count == 1 }

    /// Calls `body` with each path until all are done or a stop is requested. What `body` throws is
    /// reported with the path as it was given, and noted as a failure.
    ///
    /// Problems with the list itself are reported and noted as failures; paths before and after a
    /// bad record are still processed. A last record without its NUL is not processed, since a
    /// truncated path would name another file.
    ///
    /// - Parameter beforeWaiting: called before a read that may block, to write the results so far.
    package func forEach(
        followingSymbolicLinks follows: Bool = true, outcome: Outcome,
        beforeWaiting: () -> Void = {},
        _ body: (borrowing ListedPath) throws(FileError) -> Void
    ) {
        func visit(_ path: borrowing ListedPath) {
            do throws(FileError) {
                try body(path)
            } catch {
                outcome.report(error, at: path.bytes)
            }
        }
        guard let list else {
            for argument in paths.paths where !StopRequest.isMade {
                argument.withListedPath(followingSymbolicLink: follows, visit)
            }
            return
        }
        let descriptor: FileDescriptor
        do throws(Errno) {
            descriptor =
                list.isDash ? .standardInput : try openForReading(list.path)
        } catch {
            return outcome.report(.opening(error, FilePath(bytes: list.bytes)))
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
                    visit(
                        ListedPath(
                            nulEnded: bytes, followsSymbolicLink: follows, parent: parent))
                })
            if !list.isDash { try closeFile(descriptor) }
        } catch {
            outcome.report(
                about: list.bytes, "the list cannot be read: \(error) (paths so far are done)")
        }
    }

    /// Runs a command that handles its paths one after another, and throws its exit code unless that is
    /// 0.
    ///
    /// - Parameter beforeWaiting: writes the results so far; also called at the end.
    package func run(
        beforeWaiting: () -> Void = {},
        _ body: (borrowing ListedPath, Outcome) throws(FileError) -> Void
    ) throws {
        let outcome = Outcome()
        forEach(outcome: outcome, beforeWaiting: beforeWaiting) { path throws(FileError) in
            try body(path, outcome)
        }
        beforeWaiting()
        try outcome.finish()
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
        outcome.report(about: list?.bytes, complaint)
    }
}

/// One path among a command's operands, or a run of them.
///
/// The parser takes time that grows with the square of the number of arguments, so
/// ``ArgumentPacking`` passes it a run of operands as one argument.
package struct PathOperand: ExpressibleByArgument, Sendable, Hashable {
    fileprivate let paths: [PathArgument]

    package init?(argument: String) {
        paths = ArgumentBytes.bytes(of: argument)
            .split(separator: 0, omittingEmptySubsequences: false)
            .map { PathArgument(bytes: $0) }
    }

    package static var defaultCompletionKind: CompletionKind { .file() }
}

extension [PathOperand] {
    package var paths: [PathArgument] { flatMap(\.paths) }
}

/// Packs runs of operands into one argument each.
enum ArgumentPacking {
    /// A NUL in the form of ``ArgumentBytes``, which no argument of a process contains.
    static let separator: Unicode.Scalar = "\u{F700}"

    /// The first operands may be something else than paths, such as a key, and a command tells one
    /// path from several: these are not packed.
    private static let unpackedCount = 8

    /// Returns the arguments, with each run of what can only be operands as one.
    ///
    /// An operand begins with no dash, and does not follow an argument that does, whose value it
    /// might be; or it comes after `--`.
    static func packed(_ arguments: [String]) -> [String] {
        guard arguments.count > 2 * unpackedCount else { return arguments }
        var result: [String] = []
        var run: [String] = []
        var isAfterTerminator = false
        var followsOption = true
        var count = 0
        for argument in arguments {
            let beginsWithDash = argument.utf8.first == UInt8(ascii: "-")
            if isAfterTerminator || (!beginsWithDash && !followsOption) {
                count += 1
                if count > unpackedCount {
                    run.append(argument)
                    continue
                }
            }
            append(&run, to: &result)
            result.append(argument)
            if argument == "--" { isAfterTerminator = true }
            followsOption = beginsWithDash
        }
        append(&run, to: &result)
        return result
    }

    private static func append(_ run: inout [String], to result: inout [String]) {
        if !run.isEmpty { result.append(run.joined(separator: String(separator))) }
        run = []
    }
}

/// A path whose NUL-terminated bytes are in a buffer of the caller, valid only during the call that
/// it is passed to.
///
/// Paths shorter than `PATH_MAX` are passed to the kernel without being copied. A path in an open
/// directory is looked up relative to it.
package struct ListedPath: FileLocation, ~Copyable {
    /// The path's bytes, without the terminating NUL.
    package let bytes: UnsafeBufferPointer<UInt8>
    package let followsSymbolicLink: Bool
    private let parent: (descriptor: FileDescriptor, nameOffset: Int)?

    init(
        nulEnded bytes: UnsafeBufferPointer<UInt8>, followsSymbolicLink: Bool,
        parent: (descriptor: FileDescriptor, nameOffset: Int)? = nil
    ) {
        self.bytes = bytes
        self.followsSymbolicLink = followsSymbolicLink
        self.parent = parent
    }

    package var path: FilePath { FilePath(bytes: bytes) }

    /// The path, created anew by each access.
    package var pathForMessages: FilePath? { path }

    package func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        guard bytes.count < longestDirectPath, let start = bytes.baseAddress else {
            if followsSymbolicLink { return try path.lookUp(body) }
            return try path.withoutFollowing.lookUp(body)
        }
        try start.withMemoryRebound(to: CChar.self, capacity: bytes.count + 1) {
            pointer throws(Errno) in
            let directory = parent?.descriptor ?? .workingDirectory
            let name = pointer + (parent?.nameOffset ?? 0)
            try body(
                CallTarget(
                    directory: directory.rawValue, path: name,
                    followsSymbolicLink: followsSymbolicLink))
        }
    }
}

/// `PATH_MAX` without the NUL.
private let longestDirectPath = 4095

extension PathArgument {
    package func withListedPath(
        followingSymbolicLink follows: Bool = true, _ body: (borrowing ListedPath) -> Void
    ) {
        (bytes + [0]).withUnsafeBufferPointer { buffer in
            let bytes = UnsafeBufferPointer(rebasing: buffer.dropLast())
            body(ListedPath(nulEnded: bytes, followsSymbolicLink: follows))
        }
    }
}

/// The directory of consecutive paths in a list, kept open between them.
///
/// The kernel then looks up one name for each file, instead of the whole path. The directory is
/// opened only for the second consecutive path, since opening it does not pay off for a single
/// path.
struct ListedDirectory: ~Copyable {
    private var prefix: [UInt8] = []
    private var opened: SharedDescriptor?
    private let isOfUse = AvailableCalls.xattrat

    /// Closes the directory, because its path may lead to another directory when more paths arrive.
    mutating func forget() {
        opened = nil
        prefix.removeAll(keepingCapacity: true)
    }

    /// Returns the open directory of `path`, and the offset of the name within `path`; nil when the
    /// whole path has to be looked up.
    mutating func parent(
        of path: UnsafeBufferPointer<UInt8>
    ) -> (descriptor: FileDescriptor, nameOffset: Int)? {
        guard isOfUse, let slash = path.lastIndex(of: UInt8(ascii: "/")), slash < path.count - 1,
            slash < longestPath
        else { return nil }
        let directory = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(path)[...slash])
        guard prefix.withUnsafeBytes({ $0.hasSameBytes(as: directory) }) else {
            forget()
            prefix.append(contentsOf: directory)
            return nil
        }
        if opened == nil {
            // If that fails, the lookup of each path reports why.
            opened = try? SharedDescriptor(
                openFile(FilePath(bytes: prefix), flags: [.reference, .directory]))
        }
        return opened.map { ($0.descriptor, slash + 1) }
    }
}
