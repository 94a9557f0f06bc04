import SystemCalls
import SystemPackage

/// The running programs that may need temporary files although they have none of them open: those
/// that were running when a file was made, and those that wait for changes by inotify(7).
///
/// Read when first asked for, once for all units of a search or a run.
final class TemporaryFileUsers: Sendable {
    fileprivate struct Program {
        let start: FileTime
        /// Whether it leads a session: such a program is a service or a shell, and runs for months.
        let leadsSession: Bool
        let hasTerminal: Bool
    }

    fileprivate struct Found {
        var programs: [UInt32: [Program]] = [:]
        /// The inodes that are watched, with their handles; empty where the kernel does not tell it.
        var watched: [UInt64: [[UInt8]]] = [:]
        /// Whether the processes could not be read.
        var isUnknown = false
    }

    private let found = Monitor<Found?>(nil)

    /// Whether a program of an owner runs that was running when an item was made, and so may have made
    /// it; true also when that cannot be determined.
    ///
    /// The first process, kernel threads, managers of users and what leads a session at a terminal do
    /// not count.
    ///
    /// - Parameters:
    ///   - made: when the item was made.
    ///   - isUrgent: whether only a program counts that had started ten minutes before at most. For one
    ///     that leads a session this is always so.
    func mayNeed(itemOf owner: UInt32, made: FileTime, isUrgent: Bool) -> Bool {
        withFound { found in
            if found.isUnknown { return true }
            return found.programs[owner, default: []].contains { program in
                // The start is known to a hundredth of a second, by another clock.
                let age = made.seconds.subtractingSaturating(program.start.seconds)
                guard age >= -1 else { return false }
                if program.leadsSession { return !program.hasTerminal && age <= 600 }
                return !isUrgent || age <= 600
            }
        }
    }

    /// Whether a program waits for changes of an item.
    func isWatched(
        _ item: borrowing some FileLocation & ~Copyable, _ status: FileStatus
    ) -> Bool {
        let handles = withFound { $0.watched[status.identity.inode] ?? [] }
        guard !handles.isEmpty else { return false }
        // Inodes of several filesystems have the same number.
        guard !handles.contains([]), let handle = try? inodeHandle(of: item) else { return true }
        return handles.contains(handle)
    }

    private func withFound<Result: Sendable>(_ body: (Found) -> Result) -> Result {
        found.withLock { found in
            let known = found ?? Self.look()
            found = known
            return body(known)
        }
    }

    private static func look() -> Found {
        var found = Found()
        let boot = FileTime.now.seconds - timeSinceBoot().components.seconds
        do throws(Errno) {
            let processes = try OpenDirectory(at: "/proc", flags: .readOnly)
            try forEachNumber(inOpen: processes.descriptor) { name, number in
                // Otherwise the process ended.
                if number != processNumber(),
                    let process = try? processes.openDirectory(
                        FilePath(bytes: name), flags: .reference)
                {
                    found.note(programOf: process, number, boot: boot)
                    found.note(watchesOf: process)
                }
                return true
            }
        } catch {
            found.isUnknown = true
        }
        return found
    }
}

extension TemporaryFileUsers.Found {
    /// Notes the start and the owners of a process.
    fileprivate mutating func note(programOf process: OpenDirectory, _ number: Int32, boot: Int64) {
        guard number != 1, let text = process.text("stat"),
            let open = text.firstIndex(of: UInt8(ascii: "(")),
            let close = text.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return }
        // The name may contain anything. The state comes next.
        let fields = text[(close + 1)...].split(separator: UInt8(ascii: " "))
            .map { Int64(String(decoding: $0, as: UTF8.self)) ?? 0 }
        guard fields.count > 19, fields[6] & kernelThread == 0 else { return }
        let name = text[(open + 1)..<close]
        if name.elementsEqual("systemd".utf8) || name.elementsEqual("(sd-pam)".utf8) { return }
        let program = TemporaryFileUsers.Program(
            start: FileTime(seconds: boot + fields[19] / ticksPerSecond, nanoseconds: 0),
            leadsSession: fields[3] == number, hasTerminal: fields[4] != 0)
        for owner in process.owners { programs[owner, default: []].append(program) }
    }

    /// Notes what the threads of a process wait for.
    fileprivate mutating func note(watchesOf process: OpenDirectory) {
        guard let tasks = try? process.openDirectory("task") else { return }
        var last: Int32?
        try? forEachNumber(inOpen: tasks.descriptor) { name, number in
            // Most threads share their descriptors.
            if let last, (try? shareFilesAndDirectories(last, number)) == true { return true }
            last = number
            if let task = try? tasks.openDirectory(FilePath(bytes: name), flags: .reference) {
                note(watchesOfTask: task)
            }
            return true
        }
    }

    private mutating func note(watchesOfTask task: OpenDirectory) {
        guard let links = try? task.openDirectory("fd"),
            let details = try? task.openDirectory("fdinfo", flags: .reference)
        else { return }
        try? forEachEntry(inOpen: links.descriptor) { name, _ in
            let name = FilePath(bytes: name)
            let target = try? symbolicLinkTarget(links.location(of: name))
            if target?.bytes.elementsEqual("anon_inode:inotify".utf8) == true {
                for line in details.text(name)?.split(separator: UInt8(ascii: "\n")) ?? [] {
                    note(watch: line)
                }
            }
            return true
        }
    }

    /// Notes a line such as `inotify wd:1 ino:2 sdev:3 mask:4 ignored_mask:0 fhandle-bytes:8
    /// fhandle-type:1 f_handle:0102030405060708`.
    private mutating func note(watch line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "))
        guard let word = words.first(where: { $0.starts(with: "ino:".utf8) }),
            let inode = UInt64(String(decoding: word.dropFirst(4), as: UTF8.self), radix: 16)
        else { return }
        let handle = words.drop { !$0.starts(with: "fhandle-type:".utf8) }
        watched[inode, default: []].append(Array(handle.joined(separator: " ".utf8)))
    }
}

extension OpenDirectory {
    /// Returns the contents of a file of a process; nil when it cannot be read.
    fileprivate func text(_ name: FilePath) -> [UInt8]? {
        guard let opened = try? openFile(in: descriptor, name, flags: .readOnly) else { return nil }
        let file = OwnedDescriptor(opened)
        return try? contents(ofOpen: file.descriptor, file.descriptor.status(), limit: 16 << 20)
    }

    /// The real, effective and saved owner of a process.
    fileprivate var owners: Set<UInt32> {
        let line = text("status")?.split(separator: UInt8(ascii: "\n")).first {
            $0.starts(with: "Uid:".utf8)
        }
        let fields = line?.dropFirst(4).split(separator: UInt8(ascii: "\t")).prefix(3) ?? []
        return Set(fields.compactMap { UInt32(String(decoding: $0, as: UTF8.self)) })
    }
}

/// PF_KTHREAD of linux/sched.h.
private let kernelThread: Int64 = 0x0020_0000
/// USER_HZ, which is the same on all machines that Linux runs on today.
private let ticksPerSecond: Int64 = 100
