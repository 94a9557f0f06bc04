import Backups
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The file `status.json` in a configuration's directory. It is replaced as a whole, so that it may be read
/// at any time.
struct StatusFile: Sendable {
    /// The path of the file.
    let path: FilePath

    /// Creates a reference to the file in a configuration's directory.
    init(in directory: FilePath) {
        path = directory.appending("status.json")
    }

    /// Returns the status of the last run; nil when there was none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or is not valid.
    func read() throws(FileError) -> RunStatus? {
        guard let bytes = try contentsOfStateFile(path, limit: 1 << 20) else { return nil }
        do throws(JSONError) {
            return try RunStatus(bytes)
        } catch {
            throw FileError(
                code: .other, message: "is not a status file", advice: "remove it", path: path)
        }
    }

    /// Replaces the status.
    func write(_ status: RunStatus) throws(FileError) {
        try path.writePrivateFile(status.line(isStale: nil))
    }

    /// Notes that a snapshot was accepted, if it is that of the last run. A run that is under way
    /// writes its own status.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or replaced.
    func accept(_ accepted: Acceptance) throws(FileError) {
        let snapshot = accepted.snapshot
        guard try isOfLastRun(snapshot) != nil,
            case .taken(let lock) = try RunLock.take(in: path.removingLastComponent())
        else { return }
        // A run may have ended meanwhile.
        guard var status = try isOfLastRun(snapshot) else { return }
        status.snapshot?.holds = accepted.holds.map { HeldPart($0.hold, in: $0.snapshot) }
        if status.result == .coversLess {
            status.result = .ok
            status.exitCode = 0
        }
        try write(status)
        withExtendedLifetime(lock) {}
    }

    /// Returns the status if it is of a run whose snapshot is this one.
    private func isOfLastRun(_ snapshot: Snapshot) throws(FileError) -> RunStatus? {
        guard let status = try read(), let made = status.snapshot,
            [snapshot.identifier, snapshot.originalIdentifier].contains(where: {
                $0.hasPrefix(made.identifier)
            })
        else { return nil }
        return status
    }
}

extension RunStatus {
    /// Parses a status file; unknown fields, as later versions may add, are ignored.
    ///
    /// - Throws: `JSONError` for anything that is not a status.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var fields = Fields()
        var scanner = JSONScanner(bytes[...], hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        guard let result = fields.result, let process = fields.process, let start = fields.start
        else { throw JSONError(offset: 0) }
        self.init(process: process, start: start, after: nil)
        self.result = result
        step = fields.step
        exitCode = fields.exitCode
        end = fields.end
        snapshot = fields.snapshot.identifier.isEmpty ? nil : fields.snapshot
        lastCleanRun = fields.lastCleanRun
        lastVerify = fields.lastVerify
        lastPrune = fields.lastPrune
    }

    private struct Fields {
        var result: RunResult?
        var step: RunStep?
        var exitCode: Int32?
        var process: Int32?
        var start: FileTime?
        var end: FileTime?
        var snapshot = SnapshotSummary(identifier: "")
        var lastCleanRun: FileTime?
        var lastVerify: FileTime?
        var lastPrune: FileTime?

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
            if try scanner.takesNull() { return }
            switch name {
            case "result": result = RunResult(rawValue: try scanner.text())
            case "step": step = RunStep(rawValue: try scanner.text())
            case "exitCode": exitCode = Int32(exactly: try scanner.integer())
            case "process": process = Int32(exactly: try scanner.integer())
            case "start": start = FileTime(rfc3339: try scanner.string())
            case "end": end = FileTime(rfc3339: try scanner.string())
            case "lastCleanRun": lastCleanRun = FileTime(rfc3339: try scanner.string())
            case "lastVerify": lastVerify = FileTime(rfc3339: try scanner.string())
            case "lastPrune": lastPrune = FileTime(rfc3339: try scanner.string())
            case "snapshot": snapshot.identifier = try scanner.text()
            case "items": snapshot.items = try scanner.amount()
            case "bytes": snapshot.bytes = try scanner.amount()
            case "addedBytes": snapshot.addedBytes = try scanner.amount()
            case "excludedItems": snapshot.excludedItems = try scanner.amount()
            case "holds":
                try scanner.forEachElement { scanner throws(JSONError) in
                    snapshot.holds.append(try HeldPart(&scanner))
                }
            default: break
            }
        }
    }
}

extension HeldPart {
    /// Parses an object of a status file.
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONError) {
        self.init()
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try scanner.takesNull() { return }
            switch name {
            case "path": path = try scanner.string()
            case "pathBase64": path = try scanner.base64()
            case "kind": kind = try scanner.text()
            case "since": since = FileTime(rfc3339: try scanner.string()) ?? since
            case "until": until = FileTime(rfc3339: try scanner.string())
            case "snapshot": snapshot = try scanner.text()
            default: break
            }
        }
    }
}
