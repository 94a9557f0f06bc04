import ResourceValues
import SystemCalls

/// A lock in a repository.
struct ResticLock: Sendable, Hashable {
    /// The name of its file.
    let identifier: String
    /// The host name of the process that holds it.
    let hostName: String
    /// The pid of that process on its host.
    let processIdentifier: Int32
    /// When it was made; restic replaces it every five minutes.
    let time: FileTime

    /// Parses the output of `restic cat lock`.
    init(identifier: String, json: [UInt8]) throws(JSONError) {
        var hostName = ""
        var processIdentifier: Int64 = 0
        var time: FileTime?
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "hostname": hostName = try scanner.text()
            case "time": time = FileTime(rfc3339: try scanner.string())
            case "pid": processIdentifier = try scanner.integer()
            default: break
            }
        }
        guard let process = Int32(exactly: processIdentifier), process > 0, let time else {
            throw JSONError(offset: 0)
        }
        self.time = time
        self.identifier = identifier
        self.hostName = hostName
        self.processIdentifier = process
    }

    /// Whether it has not been refreshed for as long as restic itself waits before it removes a
    /// lock.
    ///
    /// - Parameters:
    ///   - written: the modification time of its file, by the clock of the machine with the
    ///     repository.
    ///   - now: the current time.
    func isOld(written: FileTime, now: FileTime) -> Bool {
        let limit: Int64 = 30 * 60
        return [time, written].allSatisfy { now.seconds.subtractingSaturating($0.seconds) > limit }
    }
}
