import SystemCalls
import SystemPackage

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
