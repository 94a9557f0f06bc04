import SystemCalls
import SystemPackage

/// A restic process that this program started, recorded in a file while it runs.
///
/// A lock in a repository names a host and a pid, but another machine can have the same host name,
/// and another process the same pid. A process recorded here ran on this machine, so once it has
/// ended, a lock with its pid that was made after it began is its own. The records are below
/// `/tmp`, in a directory that only this user can write to; where they cannot be written there are
/// none, and locks stay until they are old.
struct StartedProcess: Sendable, Hashable {
    /// Its pid.
    let number: Int32
    /// When it began, by the clock that locks use.
    let begin: FileTime
    private let note: FilePath
    private let boot: String
    /// Its start time in clock ticks since boot, as the kernel reports it: no two processes with
    /// the same pid have the same.
    private let ticks: String

    private static var directory: FilePath {
        FilePath("/tmp/resval-processes-\(effectiveUser())")
    }

    /// Records a process.
    ///
    /// - Parameters:
    ///   - begin: a time before it was started.
    ///   - repository: the directory of the repository it works on.
    /// - Returns: nil when it cannot be recorded.
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
            // A file that a killed process with the same pid left.
            try? removeFile(note)
            guard let file = try openStateFile(note, makingIt: true) else { return nil }
            defer { closeIgnoringErrors(file) }
            try (Array(head.utf8) + repository.bytes).withUnsafeBufferPointer {
                bytes throws(FileError) in
                do throws(Errno) {
                    try writeFile(file, UnsafeRawBufferPointer(bytes))
                } catch {
                    throw FileError(error, of: note)
                }
            }
        } catch {
            return nil
        }
    }

    /// Parses a record; nil when it is for another repository, or not valid.
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

    /// Returns the recorded processes of a repository.
    static func all(on repository: FilePath) -> [StartedProcess] {
        guard (try? requireOwnStateDirectory(directory)) == true else { return [] }
        var notes: [StartedProcess] = []
        // Without records, locks stay until they are old.
        try? forEachName(in: directory.withoutFollowing) { name in
            let note = directory.pushing(FilePath(bytes: name))
            if let process = StartedProcess(note, on: repository) { notes.append(process) }
            return true
        }
        return notes
    }

    /// Whether it is certain that the process has ended.
    var hasEnded: Bool {
        guard ProcessTable().seesAllProcesses, let current = try? bootIdentifier() else {
            return false
        }
        if current != boot || !hasProcess(numbered: number) { return true }
        guard let now = Self.ticks(ofProcess: number) else { return false }
        return now != ticks
    }

    /// Removes the record.
    func forget() { try? removeFile(note) }

    /// Returns the 22nd field of `/proc/PID/stat`, the start time. The second field, in
    /// parentheses, can contain anything.
    ///
    /// - Returns: nil when it cannot be read; ``endedTicks`` for a process that has ended but was
    ///   not reaped.
    private static func ticks(ofProcess number: Int32) -> String? {
        guard let text = try? contentsOfFile(FilePath("/proc/\(number)/stat")),
            let end = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 19 else { return nil }
        // The main thread can end before the others.
        let (state, threads) = (fields[0], fields[17])
        return state == "Z" && (threads == "0" || threads == "1") ? endedTicks : fields[19]
    }
}

/// A value that no running process has for ticks.
private let endedTicks = "ended"

/// What this machine knows about processes that may have ended.
struct ProcessTable {
    private let directory: FilePath

    /// The table of the running kernel, as `/proc` shows it.
    init(directory: FilePath = "/proc") { self.directory = directory }

    /// Whether it is certain that no process has a pid, neither on the host nor in any container.
    ///
    /// False too when that is not known: inside a container, or where `/proc` hides the processes
    /// of other users (`hidepid`).
    func hasNone(numbered number: Int32) -> Bool {
        guard seesAllProcesses, !hasProcess(numbered: number) else { return false }
        do {
            _ = try contentsOfFile(directory.appending("1/status"))
            for process in try processes() where try has(process, number) { return false }
            return true
        } catch {
            return false
        }
    }

    /// Whether pids are those of the host, not of a container. The kernel gives the initial pid
    /// namespace the fixed inode `PROC_PID_INIT_INO`.
    var seesAllProcesses: Bool {
        do throws(Errno) {
            let target = try symbolicLinkTarget(directory.appending("self/ns/pid").withoutFollowing)
            return target == "pid:[4026531836]"
        } catch {
            return false
        }
    }

    private func processes() throws(Errno) -> [Int32] {
        var numbers: [Int32] = []
        try forEachName(in: directory) { name in
            if let number = Int32(String(decoding: name, as: UTF8.self)) { numbers.append(number) }
            return true
        }
        return numbers
    }

    /// Returns the status file of a process; nil if it has ended.
    private func status(of process: Int32) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try contentsOfFile(directory.appending("\(process)/status"))
        } catch  where [.noSuchFileOrDirectory, .noSuchProcess].contains(error.errno) {
            return nil
        }
    }

    /// Whether a process has a pid, on the host or in any of the containers it is in.
    private func has(_ process: Int32, _ number: Int32) throws -> Bool {
        if process == number { return true }
        guard let status = try status(of: process) else { return false }
        let line = status.split(separator: UInt8(ascii: "\n"))
            .first { $0.starts(with: "NSpid:".utf8) }
        guard let line else { throw Errno.noSuchFileOrDirectory }
        return String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .contains { Int32($0) == number }
    }
}
