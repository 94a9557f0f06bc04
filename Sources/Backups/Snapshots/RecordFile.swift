import SystemCalls
import SystemPackage

/// A snapshot's record as a file that restic can store, private to the user and removed afterwards.
///
/// It is in a state directory, so no other user can take its name. The path is the same in every run, so
/// that a file left by a killed process is taken over instead of being joined by another. A concurrent
/// backup of the same finds the file locked and appends a number to its name. Where nothing can be written,
/// as on a full disk, the file is in a new directory in `/tmp`.
final class RecordFile: Sendable {
    let path: FilePath
    private let file: SharedDescriptor
    private let ownsDirectory: Bool

    private static let limit = 100

    /// - Parameters:
    ///   - name: the file's name, in ASCII.
    ///   - directories: in order of preference; made if they are missing.
    /// - Throws: ``BackupError`` when the file cannot be written in any of them, nor below `bases`.
    init(
        _ record: [UInt8], name: String, in directories: [FilePath],
        below bases: [FilePath] = ["/tmp", "/var/tmp"]
    ) throws(BackupError) {
        let new = bases.map { $0.appending("resval-\(randomIdentifier())") }
        var failure: FileError?
        for directory in directories + new {
            let isNew = new.contains(directory)
            var opened: (path: FilePath, file: SharedDescriptor)?
            do {
                if isNew {
                    try makeDirectory(directory, in: .workingDirectory, permissions: 0o700)
                } else {
                    try makeStateDirectory(directory)
                }
                let found = try Self.open(in: directory, name)
                opened = found
                try setSize(0, of: found.file.descriptor)
                try writeFile(found.file.descriptor, record)
                (path, file, ownsDirectory) = (found.path, found.file, isNew)
                return
            } catch {
                failure = FileError(error, of: opened?.path ?? directory)
                if let opened { try? removeFile(opened.path) }
                if isNew { Self.removeDirectory(directory) }
            }
        }
        throw BackupError(
            failure?.code == .noSpace ? .noSpace : .other,
            "the record of what is excluded cannot be written: \(failure?.message ?? "")",
            advice: "make room there, and make sure that the directory is writable",
            path: failure?.path)
    }

    deinit {
        // The next run takes over what cannot be removed. The lock goes behind it.
        try? removeFile(path)
        if ownsDirectory { Self.removeDirectory(path.removingLastComponent()) }
        withExtendedLifetime(file) {}
    }

    private static func removeDirectory(_ path: FilePath) {
        try? removeItem(path, in: .workingDirectory, isDirectory: true)
    }

    /// Creates a file, or takes over one that a killed process of this user left.
    private static func open(
        in directory: FilePath, _ name: String
    ) throws(FileError) -> (path: FilePath, file: SharedDescriptor) {
        for number in 0..<limit {
            let path = directory.appending(number == 0 ? name : "\(name)-\(number)")
            guard let opened = try openStateFile(path, makingIt: true) else { continue }
            let file = SharedDescriptor(opened)
            let isTaken = try calls(on: path) { () throws(Errno) in
                guard try takeLock(on: file.descriptor) else { return false }
                // One that has ended meanwhile has removed it.
                let there = try ifPresent { () throws(Errno) in
                    try path.withoutFollowing.status().identity
                }
                return try file.descriptor.status().identity == there
            }
            if isTaken { return (path, file) }
        }
        throw FileError(.fileExists, of: directory.appending(name))
    }
}

extension Restic {
    /// The directories for a snapshot's record, in order of preference.
    var recordDirectories: [FilePath] {
        let runtime = environmentValue("XDG_RUNTIME_DIR").map { FilePath(bytes: $0) }
        return [stateDirectory, runtime?.appending(stateDirectoryName)].compactMap { $0 }
    }
}

/// The path of a snapshot's record in restic: an additional file of the snapshot, whose path is in
/// a tag.
struct RecordPath: Sendable, Hashable {
    let path: [UInt8]
    private let sources: [[UInt8]]

    private static let prefix = "resval-record="
    private static let nameStart = Array("resval-record-".utf8)

    /// Returns the name of a record's file, in plain ASCII.
    static func fileName(_ identity: String) -> String { "resval-record-\(identity)" }

    static func tag(_ path: FilePath) -> String { prefix + Percent.text(of: path.bytes) }

    /// Finds the path in a snapshot's tags; nil for a snapshot without a record.
    ///
    /// Every client of a repository can write such a tag, so it counts only when it contains a
    /// plain absolute path with a name that only records have.
    init?(tags: [String], sources: [FilePath]) {
        guard let tag = tags.first(where: { $0.hasPrefix(Self.prefix) }),
            let path = Percent.bytes(of: tag.utf8.dropFirst(Self.prefix.utf8.count)),
            let names = RelativePath(absolute: path)?.names, let name = names.last,
            name.starts(with: Self.nameStart)
        else { return nil }
        self.path = path
        self.sources = sources.map(\.bytes)
    }

    /// Whether a path is in the snapshot only because of the record: the file, the state directory that it
    /// is in, which no backup stores for itself, and those directories above it that do not lead to a
    /// SOURCE as well.
    func hides(_ other: [UInt8]) -> Bool {
        if other == path { return true }
        guard isHeld(path, by: other) else { return false }
        if isStateDirectory(other) { return !sources.contains { isHeld($0, by: other) } }
        return !sources.contains { isHeld(other, by: $0) || isHeld($0, by: other) }
    }

    /// Whether a directory has the name of state directories, and the record in it. A tag is data
    /// of others, and may name any directory.
    private func isStateDirectory(_ directory: [UInt8]) -> Bool {
        directory.count == path.lastIndex(of: UInt8(ascii: "/"))
            && directory.suffix(stateDirectoryName.utf8.count + 1)
                .elementsEqual("/\(stateDirectoryName)".utf8)
    }

    /// The topmost path that is hidden with everything below it.
    var top: [UInt8] {
        for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") {
            let directory = Array(path[..<end])
            if hides(directory) { return directory }
        }
        return path
    }
}

extension Snapshot {
    var recordPath: RecordPath? { RecordPath(tags: allTags, sources: sources) }
}
