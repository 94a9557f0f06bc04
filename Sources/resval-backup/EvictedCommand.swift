import ArgumentParser
import CommandSupport
import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// `resval-backup evicted`.
struct EvictedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evicted",
        abstract: "List evicted files, with the snapshots that hold them.",
        discussion: """
            A file is evicted, changed (it is not the placeholder any more; the snapshot has what \
            was evicted) or missing (nothing is at its path; it may have been moved). States that \
            begin with "cut off" are finished by resval-backup evict --recover.
            """)

    @Argument(help: "Only these files, and what was evicted below these directories.")
    var paths: [PathArgument] = []

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let journal = try ownJournal(in: PolicyEnvironment.current())
        let contents = try journal.contents()
        let index = try EvictedIndex([journal])
        for trouble in contents.unreadable { Messages.write(trouble) }
        let roots = try paths.map { try realPath(of: $0.path, followsLast: false) }
        let files = contents.files
            .filter { file in roots.isEmpty || roots.contains { file.path.starts(with: $0) } }
            .sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        var buffer = OutputBuffer()
        for file in files {
            let state = ShownState(file, index)
            if json {
                write(json: file, state, to: &buffer)
            } else {
                write(file, state, to: &buffer)
            }
        }
        buffer.flush()
        if !contents.unreadable.isEmpty { throw ExitCode(3) }
    }

    private func write(_ file: EvictedFile, _ state: ShownState, to buffer: inout OutputBuffer) {
        buffer.append(path: file.path)
        buffer.append(text: ": \(state.words), \(file.size) bytes in snapshot ")
        buffer.append(text: "\(file.snapshot.prefix(8))")
        if let failure = file.failure {
            buffer.append("; the last download failed: ")
            buffer.append(name: Array(failure.utf8))
        }
        buffer.append("\n")
        buffer.endRecord()
    }

    private func write(
        json file: EvictedFile, _ state: ShownState, to buffer: inout OutputBuffer
    ) {
        var line = JSONLine()
        line.add(path: file.path.bytes)
        line.add("state", state.rawValue)
        line.add("size", file.size)
        line.add("modified", file.modified)
        line.add("permissions", String(file.permissions, radix: 8))
        line.add("sha256", file.content.hexadecimal)
        line.add("snapshot", file.snapshot)
        line.add("tag", file.holdTag)
        line.add("repository", "repositoryBase64", file.repository)
        line.add("failure", file.failure)
        line.end(in: &buffer)
    }
}

/// The state of a file in the journal, as the disk has it.
private enum ShownState: String {
    case evicted
    case changed
    case missing
    case held = "cut-off-before-evicting"
    case punching = "cut-off-while-evicting"
    case downloading = "cut-off-while-downloading"

    init(_ file: EvictedFile, _ index: EvictedIndex) {
        switch file.state {
        case .held: self = .held
        case .punching: self = .punching
        case .downloading: self = .downloading
        case .evicted: self = Self.onDisk(file, index)
        }
    }

    private static func onDisk(_ file: EvictedFile, _ index: EvictedIndex) -> ShownState {
        do throws(Errno) {
            let location = file.path.withoutFollowing
            let status = try location.status()
            guard file.isAbout(status, at: file.path) else { return .missing }
            return index.placeholder(location, status, at: file.path) == nil ? .changed : .evicted
        } catch {
            return .missing
        }
    }

    var words: String {
        rawValue.hasPrefix("cut-off-")
            ? "cut off " + rawValue.dropFirst(8).split(separator: "-").joined(separator: " ")
            : rawValue
    }
}
