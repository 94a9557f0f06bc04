import Backups
import CommandSupport
import ResourceValues
import SystemPackage

/// The status of the daily backup: the file `status.json` in a configuration's directory, which other
/// programs may read at any time, since it is replaced as a whole.
struct RunStatus: Sendable, Hashable {
    var result = RunResult.running
    /// How the run before ended; nil where there was none.
    var previousResult: RunResult?
    /// The last step that the run began; nil before its first step.
    var step: RunStep?
    /// The exit code; nil while running.
    var exitCode: Int32?
    var process: Int32
    var start: FileTime
    /// When the run ended; nil while running.
    var end: FileTime?
    /// The snapshot that was made; nil when none was.
    var snapshot: SnapshotSummary?
    /// Why the run failed; nil when it did not.
    var failure: ReportedError?
    /// What the newest snapshot lacks and earlier ones are kept for, as last judged.
    var holds: [HeldPart] = []
    /// What the newest snapshot lacks of which a run told at its end: the first of it.
    var shortfalls: [KnownShortfall] = []
    /// What the snapshot of this run lacks; nil before one is made. Not part of the status file: what a run
    /// found that then failed was not told.
    private var found: [KnownShortfall]?
    /// What forget does not remove and why, in words, as found last; nil where nothing stops it.
    var forgetObstacle: String?
    /// When a run last made a snapshot.
    var lastSnapshot: FileTime?
    /// When a run last ended with everything done that can be.
    var lastCleanRun: FileTime?
    /// When the repository was last found to be intact.
    var lastVerify: FileTime?
    /// When data that no snapshot needs was last removed.
    var lastPrune: FileTime?
    /// When a run that a timer started last made a snapshot.
    var lastTimedRun: FileTime?
    /// Since when a due backup waits; nil while none does.
    var waitingSince: FileTime?
    /// What it waits for, in words.
    var waitingFor: String?
    /// When the owner's command was last told of a failure.
    var lastTold: FileTime?

    /// When the last run made a snapshot of all it could, as far as this status shows; nil when it
    /// did not.
    ///
    /// While a run is in progress, this is the last time that one made a snapshot.
    var lastBackup: FileTime? {
        switch result {
        case .ok, .coversLess, .incomplete, .incompleteAsBefore: end
        case .running: lastSnapshot ?? lastCleanRun
        default: nil
        }
    }

    /// Whether the next backup is due: the last one is old enough.
    ///
    /// - Parameters:
    ///   - age: the age of the last backup, in seconds, at which it is.
    ///   - now: the current time. A clock that was set back makes it due.
    func isDue(after age: Int64, now: FileTime) -> Bool {
        guard result != .running, lastBackup != nil, start <= now else { return true }
        // A timer does not fire at the very same second each time.
        return now.seconds.subtractingSaturating(start.seconds) >= age - min(age / 10, 1800)
    }

    /// Whether the last backup is too old to rely on, also while one waits after a run that failed, or for how
    /// long one waits where there is none.
    ///
    /// - Parameters:
    ///   - age: the age, in seconds, at which a backup is stale; nil when none ever is.
    ///   - now: the current time. A backup from the future is stale too: the clock was set, so the
    ///     backup's age is unknown.
    func isStale(after age: Int64?, now: FileTime) -> Bool {
        let before = waitingSince == nil ? nil : lastCleanRun ?? waitingSince
        guard let age, let lastBackup = lastBackup ?? before else { return false }
        let seconds = now.seconds.subtractingSaturating(lastBackup.seconds)
        // Small corrections of the clock are normal.
        return seconds >= age || seconds < -3600
    }

    /// Creates the status of a run that begins, with the times of the previous one.
    init(process: Int32, start: FileTime, after previous: RunStatus?) {
        self.process = process
        self.start = start
        previousResult = previous?.result
        forgetObstacle = previous?.forgetObstacle
        holds = previous?.holds ?? []
        shortfalls = previous?.shortfalls ?? []
        lastSnapshot = previous?.lastSnapshot
        lastCleanRun = previous?.lastCleanRun
        lastVerify = previous?.lastVerify
        lastPrune = previous?.lastPrune
        lastTimedRun = previous?.lastTimedRun
        lastTold = previous?.lastTold
    }

    /// Notes what a new snapshot lacks. What was told before, for the same reason, keeps its date.
    ///
    /// - Parameters:
    ///   - sources: the SOURCEs: one that is not stored at all is news each time.
    ///   - held: what earlier snapshots are held for.
    /// - Returns: whether all of it was told before, and can last.
    mutating func note(
        _ lacking: [Shortfall], of sources: [FilePath], held: [HeldPart] = []
    ) -> Bool {
        let kept = Set(held.filter { $0.snapshot != nil }.compactMap(\.path))
        let known = Dictionary(shortfalls.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
        var noted: [KnownShortfall] = []
        var room = KnownShortfall.longest
        for shortfall in lacking {
            let cause = shortfall.cause
            room -= shortfall.path.count + cause.sentence.utf8.count
            guard room >= 0, noted.count < KnownShortfall.most else { break }
            let before = known[shortfall.path].flatMap { $0.reason == cause.name ? $0 : nil }
            noted.append(
                KnownShortfall(
                    path: shortfall.path, reason: cause.name, sentence: cause.sentence,
                    since: before?.since ?? start, isAccepted: before?.isAccepted ?? false))
        }
        found = noted
        return noted.count == lacking.count && noted.allSatisfy { $0.since != start }
            && noted.allSatisfy { !$0.isElsewhere || $0.isAccepted || kept.contains($0.path) }
            && lacking.allSatisfy { shortfall in
                shortfall.cause.canLast && !sources.contains { $0.bytes == shortfall.path }
            }
    }

    /// Whether this run found something missing, or less covered, that was not told before.
    var lacksMore: Bool {
        (found ?? []).contains { $0.since == start }
            || holds.contains { $0.isShortfall && $0.since.seconds >= start.seconds }
    }

    /// Whether the newest snapshot covers less than an earlier one, which `accept` ends. A file that was
    /// evicted into another repository is told as a shortfall.
    var coversLess: Bool {
        let known = Set(shortfalls.filter(\.isElsewhere).map(\.path))
        return holds.contains { $0.isFall && !($0.path.map(known.contains) ?? false) }
    }

    /// Ends the run. What its snapshot lacks counts as told where the result says so.
    ///
    /// - Parameter error: the last that was reported, which counts when the run failed.
    mutating func finish(_ code: Int32, after error: ReportedError? = nil) {
        end = FileTime.now
        exitCode = code
        result = RunResult(exitCode: code, snapshot)
        if result.isFailure, var error {
            error.text = String(error.text.prefix(1000))
            failure = error
        }
        if let found, code == 0 || code == 3 { shortfalls = found }
        if code == 0 || result == .incompleteAsBefore {
            lastCleanRun = end
            if coversLess { result = .coversLess }
        }
    }

    /// Returns the status as a line of JSON, which is also the status file.
    ///
    /// - Parameter isStale: whether the last backup is too old to rely on; nil omits the field.
    func line(isStale: Bool?) -> [UInt8] {
        var line = JSONLine()
        line.add("version", 1)
        if let isStale { line.add("isStale", isStale) }
        line.add("result", result.rawValue)
        line.add("step", step?.rawValue)
        line.add("exitCode", exitCode)
        if let failure { line.add(failure) }
        line.add("process", process)
        line.add("start", start)
        line.add("end", end)
        line.add("previousResult", previousResult?.rawValue)
        line.add("snapshot", snapshot?.identifier)
        line.add("items", snapshot?.items)
        line.add("bytes", snapshot?.bytes)
        line.add("addedBytes", snapshot?.addedBytes)
        line.add("excludedItems", snapshot?.excludedItems)
        line.add("shortfalls", objects: shortfalls) { shortfall, object in
            object.add(path: shortfall.path)
            object.add("reason", shortfall.reason)
            object.add("sentence", shortfall.sentence)
            object.add("since", shortfall.since)
            object.add("isAccepted", shortfall.isAccepted)
        }
        line.add(holds: holds)
        line.add("forgetObstacle", forgetObstacle)
        line.add("lastSnapshot", lastSnapshot)
        line.add("lastCleanRun", lastCleanRun)
        line.add("lastVerify", lastVerify)
        line.add("lastPrune", lastPrune)
        line.add("lastTimedRun", lastTimedRun)
        line.add("waitingSince", waitingSince)
        line.add("waitingFor", waitingFor)
        line.add("lastTold", lastTold)
        return line.ended()
    }
}

extension RunStatus {
    /// Returns the status of the last run; nil when there was none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or is not valid.
    static func read(in directory: FilePath) throws(FileError) -> RunStatus? {
        let path = file(in: directory)
        guard let bytes = try contentsOfStateFile(path, limit: 1 << 20) else { return nil }
        do throws(JSONError) {
            return try RunStatus(bytes)
        } catch {
            throw FileError(
                code: .other, message: "is not a status file", advice: "remove it", path: path)
        }
    }

    func write(in directory: FilePath) throws(FileError) {
        try Self.file(in: directory).writePrivateFile(line(isStale: nil))
    }

    private static func file(in directory: FilePath) -> FilePath {
        directory.appending("status.json")
    }

    /// Notes that the newest snapshot was accepted, if it is one of the configuration. A run that is under
    /// way writes its own status.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or replaced.
    static func accept(_ accepted: Acceptance, in directory: FilePath) throws(FileError) {
        guard accepted.snapshot.set?.configuration == directory.lastComponent?.string,
            try read(in: directory) != nil, let lock = try RunLock(in: directory)
        else { return }
        defer { withExtendedLifetime(lock) {} }
        // A run may have ended meanwhile.
        guard var status = try read(in: directory) else { return }
        status.holds = HeldPart.listed(accepted.holds)
        if accepted.isTakenOver || accepted.redated > 0 { status.forgetObstacle = nil }
        for index in status.shortfalls.indices { status.shortfalls[index].isAccepted = true }
        if status.result == .coversLess {
            status.result = status.shortfalls.isEmpty ? .ok : .incompleteAsBefore
            status.exitCode = status.shortfalls.isEmpty ? 0 : status.exitCode
        }
        try status.write(in: directory)
    }

    /// Parses a status file.
    ///
    /// - Throws: `JSONError` for anything that is not a status.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var (result, process, start) = (RunResult?.none, Int32?.none, FileTime?.none)
        var made = SnapshotSummary(identifier: "")
        var reported = ReportedError(text: "")
        self.init(process: 0, start: FileTime(seconds: 0, nanoseconds: 0), after: nil)
        var scanner = JSONScanner(bytes[...], hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try scanner.takesNull() { return }
            switch name {
            case "result": result = RunResult(rawValue: try scanner.text())
            case "previousResult": previousResult = RunResult(rawValue: try scanner.text())
            case "step": step = RunStep(rawValue: try scanner.text())
            case "exitCode": exitCode = Int32(exactly: try scanner.integer())
            case "path": reported.path = try scanner.string()
            case "pathBase64": reported.path = try scanner.base64()
            case "error": reported.text = try scanner.text()
            case "advice": reported.advice = try scanner.text()
            case "process": process = Int32(exactly: try scanner.integer())
            case "start": start = FileTime(rfc3339: try scanner.string())
            case "end": end = FileTime(rfc3339: try scanner.string())
            case "forgetObstacle": forgetObstacle = try scanner.text()
            case "lastSnapshot": lastSnapshot = FileTime(rfc3339: try scanner.string())
            case "lastCleanRun": lastCleanRun = FileTime(rfc3339: try scanner.string())
            case "lastVerify": lastVerify = FileTime(rfc3339: try scanner.string())
            case "lastPrune": lastPrune = FileTime(rfc3339: try scanner.string())
            case "lastTimedRun": lastTimedRun = FileTime(rfc3339: try scanner.string())
            case "waitingSince": waitingSince = FileTime(rfc3339: try scanner.string())
            case "waitingFor": waitingFor = try scanner.text()
            case "lastTold": lastTold = FileTime(rfc3339: try scanner.string())
            case "snapshot": made.identifier = try scanner.text()
            case "items": made.items = try scanner.amount()
            case "bytes": made.bytes = try scanner.amount()
            case "addedBytes": made.addedBytes = try scanner.amount()
            case "excludedItems": made.excludedItems = try scanner.amount()
            case "shortfalls":
                try scanner.forEachElement { scanner throws(JSONError) in
                    shortfalls.append(try KnownShortfall(&scanner))
                }
            case "holds":
                try scanner.forEachElement { scanner throws(JSONError) in
                    holds.append(try HeldPart(&scanner))
                }
            default: break
            }
        }
        guard let result, let process, let start else { throw JSONError(offset: 0) }
        (self.result, self.process, self.start) = (result, process, start)
        if !made.identifier.isEmpty { snapshot = made }
        if !reported.text.isEmpty { failure = reported }
    }
}

/// The steps of a run, named after the commands that do the same.
enum RunStep: String, Sendable, Hashable {
    case create, forget, prune, verify
}

/// The facts about a new snapshot that a run reports.
struct SnapshotSummary: Sendable, Hashable {
    var identifier: String
    var items: Int64 = 0
    var bytes: Int64 = 0
    /// The number of bytes by which the repository grew.
    var addedBytes: Int64 = 0
    var excludedItems: Int64 = 0
    /// Whether it lacks nothing that the sources have; not part of the status file.
    var isWhole = false
    /// Whether it covers no less than the one before, but for what the owner excluded; not part of the
    /// status file.
    var coversAll = true
    /// Whether all that it lacks was told before, and can last; not part of the status file.
    var isAsBefore = false

    /// The exit code of `create`.
    var exitCode: Int32 { isWhole && coversAll ? 0 : 3 }

    /// The line that `create` and `run` print.
    var text: String {
        "snapshot \(identifier.prefix(8)): \(counted(items, "item")), \(sizeText(bytes)); "
            + "\(excludedItems) excluded; \(sizeText(addedBytes)) added\n"
    }
}

/// What a snapshot lacks, as it is kept in the status of a run.
struct KnownShortfall: Sendable, Hashable {
    /// The most that are kept. Of others it is not known whether they were told before.
    static let most = 100
    /// The most bytes of paths and sentences that are kept: a status that is too long cannot be read.
    static let longest = 64 << 10

    var path: [UInt8] = []
    /// Why, in one word and in words: see ``Shortfall``.
    var reason = ""
    var sentence = ""
    /// The start of the first run in a row that found it so.
    var since = FileTime(seconds: 0, nanoseconds: 0)
    /// Whether a snapshot that lacks it was accepted since.
    var isAccepted = false

    /// Whether its content was evicted into another repository.
    var isElsewhere: Bool { reason == Shortfall.Cause.elsewhereName }
}

/// How a run of the daily backup ended.
enum RunResult: String, Sendable, Hashable, CaseIterable {
    /// A run is in progress, or was killed.
    case running
    case ok
    /// A snapshot was made of all that can be, but it covers less than an earlier one.
    case coversLess
    /// A snapshot was made, but it lacks something.
    case incomplete
    /// A snapshot was made that lacks only what was told before.
    case incompleteAsBefore
    case failed
    case noRepository
    /// Another process uses the repository.
    case locked
    case wrongPassword
    /// A signal ended the run.
    case interrupted
    /// There was no run yet, and one that is due waits.
    case waiting

    /// Creates the result that an exit code stands for.
    ///
    /// - Parameter made: the snapshot that was made; nil when none was.
    init(exitCode: Int32, _ made: SnapshotSummary?) {
        switch exitCode {
        case 0: self = .ok
        case 3 where made?.isWhole == true: self = .coversLess
        case 3: self = made?.isAsBefore == true ? .incompleteAsBefore : .incomplete
        case 10: self = .noRepository
        case 11: self = .locked
        case 12: self = .wrongPassword
        case 130, 143: self = .interrupted
        default: self = .failed
        }
    }

    /// Whether it has a reason that is told.
    var isFailure: Bool {
        [.failed, .noRepository, .locked, .wrongPassword].contains(self)
    }

    /// The result in words.
    var text: String {
        switch self {
        case .incompleteAsBefore: "ok, but for what was missing before"
        case .coversLess: "covers less than an earlier snapshot"
        case .noRepository: "no repository"
        case .wrongPassword: "wrong password"
        case .waiting: "no run yet"
        default: rawValue
        }
    }

    /// The exit code of `status` after such a run: 0 for `ok` and `incompleteAsBefore`, 3 for `coversLess`
    /// and `incomplete`, otherwise 1.
    var statusCode: Int32 {
        switch self {
        case .ok, .incompleteAsBefore, .waiting: 0
        case .coversLess, .incomplete: 3
        default: 1
        }
    }
}

extension HeldPart {
    /// Returns the first of them, those that `accept` ends first: not more than 100, nor so many bytes of paths
    /// that the status could not be read.
    static func listed(_ holds: [HeldPart]) -> [HeldPart] {
        var room = KnownShortfall.longest
        let sorted = holds.filter(\.isFall) + holds.filter { !$0.isFall }
        return sorted.prefix(100).filter { hold in
            room -= hold.path?.count ?? 0
            return room >= 0
        }
    }

    /// Whether it is a shortfall that `accept` ends. What should be stored and is not makes the run's result.
    var isFall: Bool { isShortfall && !isUnstored }

    var text: String { (path.map { "\(NameEscaping.text($0)): " } ?? "") + sentence }

    private var sentence: String {
        let accepted = path == nil ? "ten were made in order, or it is accepted" : "it is accepted"
        let end =
            isUnstored
            ? "until it is stored"
            : kind == "away"
                ? "until it is back"
                : "until \(until?.localText ?? accepted)"
        let since = since.localText
        guard path != nil else {
            return "all snapshots made before the clock jumped, \(since), are kept \(end)"
        }
        let name = snapshot.map { "snapshot \($0.prefix(8))" } ?? "the snapshot that has it"
        let place = "in the newest snapshot since \(since); \(name) is kept for it \(end)"
        return isPartial ? "only in part \(place)" : "not \(place)"
    }
}

extension JSONLine {
    /// Adds a list of objects with paths.
    mutating func add(_ name: String, paths: [[UInt8]]) {
        add(name, objects: paths) { path, object in object.add(path: path) }
    }

    mutating func add(holds: [HeldPart]) {
        add("holds", objects: holds) { hold, object in
            if let path = hold.path {
                object.add(path: path)
            } else {
                object.add("path", String?.none)
            }
            object.add("kind", hold.kind)
            object.add("since", hold.since)
            object.add("until", hold.until)
            object.add("isUnstored", hold.isUnstored)
            object.add("isPartial", hold.isPartial)
            object.add("snapshot", hold.snapshot)
        }
    }
}

extension HeldPart {
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
            case "isUnstored": isUnstored = try scanner.bool()
            case "isPartial": isPartial = try scanner.bool()
            case "snapshot": snapshot = try scanner.text()
            default: break
            }
        }
    }
}

extension KnownShortfall {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONError) {
        self.init()
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try scanner.takesNull() { return }
            switch name {
            case "path": path = try scanner.string()
            case "pathBase64": path = try scanner.base64()
            case "reason": reason = try scanner.text()
            case "sentence": sentence = try scanner.text()
            case "since": since = FileTime(rfc3339: try scanner.string()) ?? since
            case "isAccepted": isAccepted = try scanner.bool()
            default: break
            }
        }
    }
}

/// The lock that prevents two runs of a configuration at once: a file in its directory, locked with
/// `flock(2)`.
///
/// The kernel releases the lock when the process ends, so a run that was killed leaves none behind.
/// The file stays: a lock on a file that is removed and created again would not exclude anyone.
final class RunLock: Sendable {
    private let file: OwnedDescriptor

    /// Takes the lock, as ``waitForLock(on:)`` does, until this object is deinitialized; nil when another
    /// process has it.
    ///
    /// - Parameter directory: that of the configuration, which must exist.
    /// - Throws: ``FileError`` when the file can be neither created nor opened, or cannot be
    ///   locked.
    init?(in directory: FilePath) throws(FileError) {
        let path = directory.appending("lock")
        file = OwnedDescriptor(try Self.open(path))
        do throws(Errno) {
            guard try waitForLock(on: file.descriptor) else { return nil }
        } catch {
            throw FileError(error, of: path)
        }
    }

    /// Opens the file, creating it when it is missing. An existing file can be locked even where
    /// nothing can be written.
    private static func open(_ path: FilePath) throws(FileError) -> FileDescriptor {
        let failure: FileError
        do throws(FileError) {
            if let made = try openStateFile(path, makingIt: true) { return made }
            throw .opening(.noSuchFileOrDirectory, path)
        } catch {
            failure = error
        }
        guard failure.isOfStorage, let opened = try openStateFile(path) else { throw failure }
        return opened
    }

    /// Whether a process has the lock. The check takes the lock for a moment.
    ///
    /// - Throws: ``FileError`` when the file cannot be opened or locked.
    static func isHeld(in directory: FilePath) throws(FileError) -> Bool {
        let path = directory.appending("lock")
        let isThere = try calls(on: path) { () throws(Errno) in try itemExists(path) }
        guard isThere else { return false }
        return try RunLock(in: directory) == nil
    }
}
