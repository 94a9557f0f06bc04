import SystemCalls
import SystemPackage

/// A process of restic that this program started, noted in a file for as long as it runs.
///
/// A lock in a repository names a machine and a process number. Another machine can have the same name, and
/// a process of the same number. What is noted here ran on this machine, so when it has ended, a lock that
/// was made after it began is its own. The notes lie below `/tmp`, in a directory that only this user can
/// write to; where they cannot be written there are none, and locks stay until they are old.
struct StartedProcess: Sendable, Hashable {
    /// Its number.
    let number: Int32
    /// When it began, by the clock of locks.
    let begin: FileTime
    private let note: FilePath
    private let boot: String
    /// When the kernel says it began, in ticks of this boot: no two processes of a number have the same.
    private let ticks: String

    private static var directory: FilePath {
        FilePath("/tmp/resval-processes-\(effectiveUser())")
    }

    /// Notes a process.
    ///
    /// - Parameters:
    ///   - begin: a time before it was started.
    ///   - repository: the directory of the repository it works on.
    /// - Returns: nil when it cannot be noted.
    init?(noting number: Int32, from begin: FileTime, on repository: FilePath) {
        guard ProcessTable().seesAllProcesses, let ticks = Self.ticks(ofProcess: number),
            let boot = try? bootIdentifier()
        else { return nil }
        let directory = Self.directory
        (self.number, self.begin, self.boot, self.ticks) = (number, begin, boot, ticks)
        note = directory.appending("\(number)")
        let head = "\(boot) \(ticks) \(begin.seconds) \(begin.nanoseconds) "
        do throws(FileError) {
            try makeStateDirectory(directory)
            // One that a killed process of this number left.
            try? removeFile(note)
            guard let file = try openStateFile(note, makingIt: true) else { return nil }
            defer { closeQuietly(file) }
            try (Array(head.utf8) + repository.bytes).withUnsafeBufferPointer {
                bytes throws(FileError) in
                do throws(Errno) {
                    try writeFile(file, UnsafeRawBufferPointer(bytes))
                } catch {
                    throw .changingItem(error, note)
                }
            }
        } catch {
            return nil
        }
    }

    /// Reads a note; nil for one of another repository, or none.
    private init?(_ note: FilePath, on repository: FilePath) {
        guard let name = note.lastComponent?.string, let number = Int32(name), number > 0,
            let text = try? contentsOfStateFile(note, limit: 65536)
        else { return nil }
        let words = text.split(
            separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, Array(words[4]) == repository.bytes else { return nil }
        let texts = words[..<4].map { String(decoding: $0, as: UTF8.self) }
        guard let seconds = Int64(texts[2]), let nanoseconds = UInt32(texts[3]) else { return nil }
        (self.number, self.note, boot, ticks) = (number, note, texts[0], texts[1])
        begin = FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// The processes that are noted with a repository.
    static func all(on repository: FilePath) -> [StartedProcess] {
        guard (try? requireOwnStateDirectory(directory)) == true else { return [] }
        var notes: [StartedProcess] = []
        // Without notes locks stay until they are old.
        try? forEachName(in: directory.withoutFollowing) { name in
            let note = directory.pushing(FilePath(bytes: name))
            if let process = StartedProcess(note, on: repository) { notes.append(process) }
            return true
        }
        return notes
    }

    /// Whether it has ended for certain.
    var hasEnded: Bool {
        guard ProcessTable().seesAllProcesses, let current = try? bootIdentifier() else {
            return false
        }
        if current != boot || !hasProcess(numbered: number) { return true }
        guard let now = Self.ticks(ofProcess: number) else { return false }
        return now != ticks
    }

    /// Removes the note.
    func forget() { try? removeFile(note) }

    /// The 22nd field of `/proc/PID/stat`; the second one, in parentheses, can hold anything.
    ///
    /// - Returns: nil where it cannot be read; ``endedTicks`` for a process that has ended but was not
    ///   waited for.
    private static func ticks(ofProcess number: Int32) -> String? {
        guard let text = try? contentsOfFile(FilePath("/proc/\(number)/stat")),
            let end = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 19 else { return nil }
        // A first thread can end before the others.
        let (state, threads) = (fields[0], fields[17])
        return state == "Z" && (threads == "0" || threads == "1") ? endedTicks : fields[19]
    }
}

/// What no process has for ticks.
private let endedTicks = "ended"
