import SystemCalls
import SystemPackage

/// Receives bytes as they arrive: the output of a program, or the contents of a file.
package protocol OutputConsumer: Sendable {
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError)

    /// Called after the last bytes, unless the program failed.
    mutating func finish() throws(BackupError)
}

extension OutputConsumer {
    mutating func receive(_ bytes: [UInt8]) throws(BackupError) {
        try bytes.withUnsafeBufferPointer { bytes throws(BackupError) in
            try receive(UnsafeRawBufferPointer(bytes))
        }
    }
}

package protocol LineConsumer: Sendable {
    /// Receives a line, without its newline.
    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError)
}

/// Splits output into lines of at most 16 MiB, longer than any line with a path.
package struct Lines<Consumer: LineConsumer>: OutputConsumer {
    package var consumer: Consumer
    private let tooLong: BackupError
    private var unfinished: [UInt8] = []

    /// - Parameter tooLong: the error thrown for a longer line.
    package init(_ consumer: Consumer, tooLong: BackupError = .tooLong) {
        self.consumer = consumer
        self.tooLong = tooLong
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        let newline = UInt8(ascii: "\n")
        var rest = bytes[...]
        while let end = rest.firstIndex(of: newline) {
            guard unfinished.count + (end - rest.startIndex) <= longestLine else { throw tooLong }
            unfinished.append(contentsOf: rest[..<end])
            try consumer.receive(line: unfinished[...])
            unfinished.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        guard unfinished.count + rest.count <= longestLine else { throw tooLong }
        unfinished.append(contentsOf: rest)
    }

    package mutating func finish() throws(BackupError) {
        if !unfinished.isEmpty { try consumer.receive(line: unfinished[...]) }
    }
}

/// The length of the longest line accepted, in bytes.
private let longestLine = 16 << 20

/// The most bytes that are collected of an answer.
private let longestAnswer = 64 << 20

struct WholeOutput: OutputConsumer {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let whenDone: @Sendable ([UInt8]) -> Void

    init(
        limit: Int = longestAnswer, whenDone: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) {
        (self.limit, self.whenDone) = (limit, whenDone)
    }

    mutating func receive(_ added: UnsafeRawBufferPointer) throws(BackupError) {
        guard bytes.count + added.count <= limit else { throw .tooLong }
        bytes.append(contentsOf: added)
    }

    func finish() { whenDone(bytes) }
}

struct NoOutput: OutputConsumer {
    func receive(_ bytes: UnsafeRawBufferPointer) {}
    func finish() {}
}

/// Collects the lines that restic prints as text, but for those about its progress, which it reports.
struct TextLines: LineConsumer {
    private(set) var lines: [String] = []
    private let report: @Sendable (BackupProgress) -> Void
    private var size = 0

    init(report: @escaping @Sendable (BackupProgress) -> Void = { _ in }) { self.report = report }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        let text = String(decoding: line, as: UTF8.self)
        if let progress = BackupProgress(line: text) { return report(progress) }
        size += line.count + 1
        guard size <= longestAnswer else { throw .tooLong }
        if !text.isEmpty { lines.append(text) }
    }
}

extension BackupError {
    static let cacheIsFull = BackupError(
        .noSpace, "the disk of restic's cache is full",
        advice: "make room there and run the command again, or set RESTIC_CACHE_DIR")

    package static let tooLong = BackupError(
        .unexpectedAnswer, "an answer, or a line of it, is longer than is accepted")
}

struct ResticEnd: Sendable {
    /// The exit code, or minus the number of the signal that ended it.
    let code: Int32
    let errors: ErrorOutput
    var hasOutput = false

    var summary: String {
        (errors.lines.last { $0.contains("Fatal: ") } ?? errors.lines.first)?.withoutFatal
            ?? "exit code \(code)"
    }
}

/// The standard error of restic: items that it could not store or restore, and all other lines.
///
/// Bounded: the first lines, which name the cause, and the last ones, which describe the end, are
/// kept; lines between are dropped. The first 10,000 items are kept; further ones are only counted.
struct ErrorOutput: LineConsumer {
    struct Item: Sendable, Hashable {
        /// The item's name as restic prints it: ``printedName(_:)``.
        let name: [UInt8]
        /// The errno; nil when restic does not report one.
        let errno: Errno?
        var message = ""
    }

    /// The lines kept, without JSON objects.
    private(set) var lines: [String] = []
    /// The items kept, each once.
    private(set) var items: [Item] = []
    /// Whether restic retries reads because the disk of its cache is full.
    private(set) var isCacheFull = false
    private(set) var droppedItemCount = 0
    /// Whether restic stored data again that a damaged repository had lost, or passed over a target.
    private var isExplained = false
    private var known: Set<Item> = []
    /// ``ResticCommand/absentTarget``, until restic has come to it.
    private var absentTarget: [UInt8]?
    private let usesCache: Bool

    private static let lineLimit = 400
    private static let lineLengthLimit = 16384
    private static let itemLimit = 10_000

    init(of command: ResticCommand = ResticCommand("")) {
        absentTarget = command.absentTarget
        usesCache = !command.has("--no-cache")
    }

    /// - Throws: ``BackupError/cacheIsFull``, on which restic would retry for hours.
    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        if line.isEmpty { return }
        if line.first == UInt8(ascii: "{"), receive(json: line) { return }
        let ending = " does not exist, skipping".utf8
        if line.first == UInt8(ascii: "/"), line.suffix(ending.count).elementsEqual(ending) {
            isExplained = true
            if let absentTarget, line.dropLast(ending.count).elementsEqual(absentTarget) {
                // All lines before may be parts of names.
                (lines, items, known, droppedItemCount) = ([], [], [], 0)
                self.absentTarget = nil
            }
            return
        }
        keep(line)
        if usesCache, absentTarget == nil, lines.last.map(Self.tellsOfFullCache) == true {
            isCacheFull = true
            throw .cacheIsFull
        }
    }

    private mutating func keep(_ line: ArraySlice<UInt8>) {
        lines.append(String(decoding: line.prefix(Self.lineLengthLimit), as: UTF8.self))
        if lines.count > Self.lineLimit { lines.remove(at: Self.lineLimit / 2) }
    }

    /// - Returns: false for one that is kept as a line.
    private mutating func receive(json line: ArraySlice<UInt8>) -> Bool {
        var (kind, reason) = ("", "")
        var (name, text): ([UInt8]?, [UInt8]?)
        var scanner = JSONScanner(line)
        do throws(JSONError) {
            try scanner.forEachField { scanner, field throws(JSONError) in
                switch field {
                case "message_type": kind = try scanner.text()
                case "item": name = try scanner.string()
                case "message": text = try scanner.string()
                case "error":
                    try scanner.forEachField { scanner, field throws(JSONError) in
                        if field == "message" { reason = try scanner.text() }
                    }
                default: break
                }
            }
        } catch {
            return false
        }
        if kind == "error", let name {
            add(Item(name: name, errno: Self.errno(in: reason), message: reason))
        } else if kind == "exit_error", let text, text.first != UInt8(ascii: "{") {
            text.split(separator: UInt8(ascii: "\n")).forEach { keep($0) }
        } else {
            return false
        }
        return true
    }

    /// restic reports the errno in words: `open FILE: permission denied`.
    private static func errno(in message: String) -> Errno? {
        (1..<CInt(133)).lazy.map(Errno.init(rawValue:)).first {
            message.hasSuffix(": " + $0.description.lowercased())
        }
    }

    private mutating func add(_ item: Item) {
        if item.message.hasSuffix("; storing the file again") {
            isExplained = true
        } else if items.count >= Self.itemLimit {
            if !known.contains(item) { droppedItemCount += 1 }
        } else if known.insert(item).inserted {
            items.append(item)
        }
    }

    /// Whether no line explains that restic exits with the code for an incomplete snapshot.
    var isSilent: Bool { items.isEmpty && !isExplained }

    /// Whether a snapshot cannot be read: `Load(<snapshot/affa36a2bb>, 0, 0) failed: open …`.
    func tellsOfUnreadable(_ snapshot: Snapshot) -> Bool {
        line(containing: "<snapshot/\(snapshot.identifier.prefix(10))>") != nil
    }

    mutating func add(unnamedComplaintAbout source: FilePath) {
        let name = printedName(source.bytes)
        add(Item(name: name, errno: nil, message: lines.first ?? "exit code 3"))
    }

    func line(containing phrase: String) -> String? {
        lines.first { $0.contains(phrase) }?.withoutFatal
    }

    /// Returns whether a line reports a full cache. Loaded data is written only to the cache:
    /// `Load(<index/…>, 0, 0) returned error, retrying after 552ms: Copy: write …: no space left on
    /// device`.
    private static func tellsOfFullCache(_ line: String) -> Bool {
        line.hasPrefix("Load(") && line.contains("returned error, retrying after")
            && (line.contains("no space left on device") || line.contains("disk quota exceeded"))
    }
}

package struct BackupSummary: Sendable {
    package internal(set) var snapshot = ""
    package internal(set) var newFiles: Int64 = 0
    package internal(set) var changedFiles: Int64 = 0
    /// The number of files that are the same as in the parent, and were not read again.
    package internal(set) var unchangedFiles: Int64 = 0
    package internal(set) var storedBytes: Int64 = 0
    package internal(set) var addedBytes: Int64 = 0
}

/// Reads the lines of `restic backup --json --verbose=2`, and those of `restore`.
struct StatusMessages: LineConsumer {
    /// What restic printed at its end; nil where it did not end by itself.
    private(set) var summary: BackupSummary?

    /// The summary, when restic has ended.
    ///
    /// - Throws: ``BackupError`` when it does not name a snapshot.
    var newSnapshot: BackupSummary {
        get throws(BackupError) {
            guard let summary, !summary.snapshot.isEmpty, summary.snapshot.isHexadecimal else {
                throw BackupError(.unexpectedAnswer, "restic backup did not name the new snapshot")
            }
            return summary
        }
    }
    /// The items that restic named as stored; nil when they are not wanted.
    private(set) var named: NamedItems?
    private(set) var hasRecord = false
    private let record: [UInt8]
    private let report: @Sendable (BackupProgress) -> Void

    init(
        checkingOff named: NamedItems? = nil, record: [UInt8] = [],
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) {
        self.named = named
        self.record = record
        self.report = report
    }

    /// Lines that are not as expected tell nothing but that restic ended: what is not named counts
    /// as missing.
    mutating func receive(line: ArraySlice<UInt8>) {
        var (kind, action, item) = ("", "", [UInt8]())
        var progress = BackupProgress(noun: "files stored")
        var summary = BackupSummary()
        var scanner = JSONScanner(line)
        let line: Void? = try? scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "message_type": kind = try scanner.text()
            case "action": action = try scanner.text()
            case "item": item = try scanner.string()
            case "files_done": progress.filesDone = try scanner.amount()
            case "total_files": progress.filesTotal = try scanner.amount()
            case "bytes_done", "bytes_restored": progress.bytesDone = try scanner.amount()
            case "total_bytes": progress.bytesTotal = try scanner.amount()
            case "snapshot_id": summary.snapshot = try scanner.text()
            case "files_new": summary.newFiles = try scanner.amount()
            case "files_changed": summary.changedFiles = try scanner.amount()
            case "files_unmodified": summary.unchangedFiles = try scanner.amount()
            case "total_bytes_processed": summary.storedBytes = try scanner.amount()
            case "data_added": summary.addedBytes = try scanner.amount()
            default: break
            }
        }
        switch kind {
        case "summary": self.summary = summary
        case _ where line == nil: break
        case "verbose_status" where ["new", "modified", "unchanged"].contains(action):
            if item == record {
                hasRecord = true
            } else {
                named?.receive(item, isKnown: action != "new")
            }
        case "status": report(progress)
        default: break
        }
    }
}

extension String {
    /// Returns the part after the first occurrence of a phrase; nil when it does not occur.
    func rest(after phrase: String) -> String? {
        firstRange(of: phrase).map { String(self[$0.upperBound...]) }
    }

    /// A line without `Fatal:` and what precedes it: restic does not end the line of an unlocking error.
    fileprivate var withoutFatal: String { rest(after: "Fatal: ") ?? self }
}
