import CommandSupport
import SystemCalls
import SystemPackage

/// A log on standard error: messages as other commands write them, or, when the journal reads
/// standard error, lines with the priority prefix of sd-daemon(3).
struct ServiceLog: Sendable {
    /// The priority of a line, by its syslog number.
    enum Priority: Int, Sendable { case error = 3, warning = 4, notice = 5, info = 6 }

    /// Whether the journal reads standard error.
    let isJournal: Bool

    /// The log for this process: for the journal when `$JOURNAL_STREAM` names standard error.
    static var current: ServiceLog {
        guard let stream = environmentVariable("JOURNAL_STREAM") else {
            return ServiceLog(isJournal: false)
        }
        let status: FileStatus
        do throws(Errno) {
            status = try FileDescriptor.standardError.status()
        } catch {
            return ServiceLog(isJournal: false)
        }
        let own = "\(status.identity.device):\(status.identity.inode)"
        return ServiceLog(isJournal: Array(own.utf8) == stream)
    }

    init(isJournal: Bool) { self.isJournal = isJournal }

    /// Writes a line about a path; nil when it concerns no path.
    func write(_ priority: Priority, about path: [UInt8]? = nil, _ text: String) {
        guard isJournal else { return Messages.write(about: path, text) }
        var line = Array("<\(priority.rawValue)>".utf8)
        if let path {
            path.withUnsafeBufferPointer { NameEscaping.append($0, to: &line) }
            line.append(contentsOf: ": ".utf8)
        }
        line.append(contentsOf: safeMessageText(text).utf8)
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBufferPointer { bytes in
            // A failure to write to standard error cannot be reported anywhere.
            try? writeFile(.standardError, UnsafeRawBufferPointer(bytes))
        }
    }
}
