import CommandSupport
import SystemCalls
import SystemPackage

/// Lines on standard error: messages for people as other commands write them, or, where the journal
/// reads them, with the priority in front that sd-daemon(3) describes.
package struct ServiceLog: Sendable {
    /// How much a line matters, by syslog's numbers.
    package enum Priority: Int, Sendable { case error = 3, warning = 4, notice = 5, info = 6 }

    /// Whether the journal reads standard error.
    package let isJournal: Bool

    /// Looks whether standard error is the stream that `$JOURNAL_STREAM` names.
    package static var current: ServiceLog {
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

    package init(isJournal: Bool) { self.isJournal = isJournal }

    /// Writes a line about a path; nil where it concerns none.
    package func write(_ priority: Priority, about path: [UInt8]? = nil, _ text: String) {
        guard isJournal else { return Messages.write(about: path, text) }
        var line = Array("<\(priority.rawValue)>".utf8)
        if let path {
            path.withUnsafeBufferPointer { NameEscaping.append($0, to: &line) }
            line.append(contentsOf: ": ".utf8)
        }
        line.append(contentsOf: safeMessageText(text).utf8)
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBufferPointer { bytes in
            // Nobody is left to be told that standard error cannot be written.
            try? writeFile(.standardError, UnsafeRawBufferPointer(bytes))
        }
    }
}
