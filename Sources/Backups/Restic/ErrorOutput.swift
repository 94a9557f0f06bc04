import SystemCalls
import SystemPackage
import TextFormats

/// The standard error of restic: items that it could not store or restore, and all other lines.
///
/// Bounded: the first lines, which name the cause, and the last ones, which describe the end, are
/// kept; lines between are dropped. The first 10,000 items are kept; further ones are only counted.
struct ErrorOutput: Sendable {
    /// An item that restic could not store or restore.
    struct Item: Sendable, Hashable {
        /// The item's name as restic prints it: ``printedName(_:)``.
        let name: [UInt8]
        /// The errno; nil when restic does not report one.
        let errno: Int64?
        /// restic's reason.
        var message = ""
    }

    /// The lines kept, without JSON objects.
    private(set) var lines: [[UInt8]] = []
    /// The items kept, each once.
    private(set) var items: [Item] = []
    /// Whether restic retries reads because the disk of its cache is full.
    private(set) var isCacheFull = false
    /// The number of items beyond those kept.
    private(set) var droppedItemCount = 0
    /// Whether restic stored data again that a damaged repository had lost.
    private(set) var hasHealed = false
    private var known: Set<Item> = []

    private static let lineLimit = 400
    private static let lineLengthLimit = 16384
    private static let itemLimit = 10_000

    /// Processes a line.
    mutating func receive(_ line: ArraySlice<UInt8>) {
        guard !line.isEmpty else { return }
        if line.first == UInt8(ascii: "{"), let message = Message(line) {
            switch message {
            case .item(let item): add(item)
            case .end(let text): text.split(separator: UInt8(ascii: "\n")).forEach { receive($0) }
            }
        } else if let name = Self.skippedTarget(line) {
            add(Item(name: name, errno: noSuchFile))
        } else {
            isCacheFull = isCacheFull || Self.tellsOfFullCache(line)
            lines.append(Array(line.prefix(Self.lineLengthLimit)))
            if lines.count > Self.lineLimit { lines.remove(at: Self.lineLimit / 2) }
        }
    }

    private mutating func add(_ item: Item) {
        if item.message.hasSuffix("; storing the file again") {
            hasHealed = true
            return
        }
        if known.contains(item) { return }
        guard items.count < Self.itemLimit else {
            droppedItemCount += 1
            return
        }
        known.insert(item)
        items.append(item)
    }

    /// Whether no line explains that restic exits with the code for an incomplete snapshot.
    var isSilent: Bool { items.isEmpty && !hasHealed }

    /// Whether a snapshot cannot be read: `Load(<snapshot/affa36a2bb>, 0, 0) failed: open …`.
    func tellsOfUnreadable(_ snapshot: Snapshot) -> Bool {
        let words = "<snapshot/\(snapshot.identifier.prefix(10))>"
        return lines.contains { String(decoding: $0, as: UTF8.self).contains(words) }
    }

    /// Adds an item for complaints that name none.
    mutating func add(unnamedComplaintAbout source: FilePath) {
        let words = lines.first.map { String(decoding: $0, as: UTF8.self) }
        add(Item(name: printedName(source.bytes), errno: nil, message: words ?? "exit code 3"))
    }

    /// Returns whether a line reports a full cache. Loaded data is written only to the cache:
    /// `Load(<index/…>, 0, 0) returned error, retrying after 552ms: Copy: write …: no space left on
    /// device`.
    private static func tellsOfFullCache(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.starts(with: "Load(".utf8) else { return false }
        let text = String(decoding: line, as: UTF8.self)
        return text.contains("returned error, retrying after")
            && (text.contains("no space left on device")
                || text.contains("disk quota exceeded"))
    }

    private static func skippedTarget(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        let ending = " does not exist, skipping".utf8
        guard line.count > ending.count, line.suffix(ending.count).elementsEqual(ending) else {
            return nil
        }
        return Array(line.dropLast(ending.count))
    }
}

private let noSuchFile: Int64 = 2

/// An object that restic writes with `--json`.
private enum Message {
    case item(ErrorOutput.Item)
    /// The final error message.
    case end([UInt8])

    /// nil for any other object, which is kept as a line.
    init?(_ line: ArraySlice<UInt8>) {
        var scanner = JSONScanner(line)
        var kind = ""
        var name: [UInt8]?
        var text: [UInt8]?
        var reason = ""
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
            return nil
        }
        switch kind {
        case "error":
            guard let name else { return nil }
            self = .item(
                ErrorOutput.Item(name: name, errno: Self.errno(in: reason), message: reason))
        case "exit_error":
            guard let text, text.first != UInt8(ascii: "{") else { return nil }
            self = .end(text)
        default: return nil
        }
    }

    /// restic reports the errno in words: `open FILE: permission denied`.
    private static func errno(in message: String) -> Int64? {
        (1..<CInt(133)).first {
            message.hasSuffix(": " + Errno(rawValue: $0).description.lowercased())
        }.map(Int64.init)
    }
}
