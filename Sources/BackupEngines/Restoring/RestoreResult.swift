import SystemCalls
import SystemPackage

/// The result of a restore.
package struct RestoreResult: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The number of items of the SOURCEs that were restored and checked; nil when they could not
    /// be checked, so that it is not known what was restored.
    package let items: Int?
    /// The items that differ from the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong with the snapshot or the restore as a whole.
    package var complaints: [String]
    /// The directories that killed restores left below the target.
    package let leftovers: [FilePath]
    /// The requested files that the snapshot excluded because they were evicted.
    package var evicted: [RecordedExclusion] = []

    package init(
        snapshot: Snapshot, items: Int?, failures: [RestoreFailure], complaints: [String] = [],
        leftovers: [FilePath] = []
    ) {
        self.snapshot = snapshot
        self.items = items
        self.failures = failures.oncePerFilesystem
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
        self.complaints = complaints
        self.leftovers = leftovers
    }

    /// The complaint about a snapshot whose record cannot be read.
    static let unreadableRecord =
        "the snapshot's record cannot be read, so it is not known which files were evicted when it was "
        + "made, nor which extended attributes the items had"

    /// Whether everything requested is as it is in the snapshot.
    package var isComplete: Bool { failures.isEmpty && complaints.isEmpty }

    /// The number of items that are as they are in the snapshot; nil if unknown.
    package var wholeItems: Int? {
        var count = countItems(failures)
        for case .noAttributes(_, let items) in failures.map(\.cause) { count += items - 1 }
        return items.map { max(0, $0 - count) }
    }

    /// Whether no item was restored, as far as is known.
    package var isNothing: Bool {
        guard let items else { return false }
        let missing = failures.filter { if case .missing = $0.cause { true } else { false } }
        return items + evicted.count > 0 && countItems(missing) >= items
    }

    /// Counts the items with failures. A directory above the SOURCEs is no item of the snapshot.
    private func countItems(_ failures: [RestoreFailure]) -> Int {
        let items = SourceItems(snapshot.sources)
        return Set(failures.map(\.path)).count { items.contains($0) }
    }
}

extension [RestoreFailure] {
    /// The failures, with a single one for all items that lost extended attributes on the same
    /// filesystem; it names the first of them.
    fileprivate var oncePerFilesystem: [RestoreFailure] {
        var lost: [UInt64: [[UInt8]: Int]] = [:]
        for failure in self {
            guard case .noAttributes(let device, let items) = failure.cause else { continue }
            lost[device, default: [:]][failure.path] = items
        }
        let others = filter { if case .noAttributes = $0.cause { false } else { true } }
        return others
            + lost.compactMap { device, items in
                items.keys.min { $0.lexicographicallyPrecedes($1) }.map {
                    RestoreFailure(
                        path: $0,
                        cause: .noAttributes(device: device, items: items.values.reduce(0, +)))
                }
            }
    }
}

extension RestoreFailure.Cause {
    /// Creates the cause for extended attributes that could not be stored.
    ///
    /// - Parameter file: the open item they were to be stored on.
    init(_ error: FileError, storingAttributesOn file: FileDescriptor) {
        if error.code == .unsupportedFilesystem, let status = try? file.status() {
            self = .noAttributes(device: status.identity.device, items: 1)
        } else {
            self = .attributes(error.message)
        }
    }
}

/// An item that was not restored as it is in the snapshot.
package struct RestoreFailure: Sendable, Hashable {
    /// What is wrong with the item.
    package enum Cause: Sendable, Hashable {
        /// It does not exist; with restic's reason, if it gave one.
        case missing(String?)
        /// It exists, with another kind, size or modification time, or the engine complained about
        /// it.
        case different(String?)
        /// Its content differs from the snapshot's; with the offset of the part that differs, in
        /// bytes, if known.
        case content(offset: Int64?)
        /// Its content could not be compared with the snapshot.
        case unchecked(String)
        /// Some of its extended attributes are missing.
        case attributes(String)
        /// Its filesystem, on this device, stores no extended attributes: this many items,
        /// including it, lost theirs.
        case noAttributes(device: UInt64, items: Int)
        /// Its holes could not be restored: it takes more space than before.
        case holes(String)

        /// Whether the item differs from the snapshot in more than attributes and holes, or may do so.
        var isDamage: Bool {
            switch self {
            case .missing, .different, .content, .unchecked: true
            case .attributes, .noAttributes, .holes: false
            }
        }
    }

    /// The absolute path in the snapshot.
    package let path: [UInt8]
    /// What is wrong with the item.
    package let cause: Cause

    package init(path: [UInt8], cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// Whether the item differs from the snapshot in more than attributes and holes, or may do so.
    package var isDamage: Bool { cause.isDamage }

    /// What is wrong, in words.
    package var sentence: String {
        switch cause {
        case .missing(let reason): "was not restored" + (reason.map { ": \($0)" } ?? "")
        case .different(let reason):
            "was not restored as it is in the snapshot" + (reason.map { ": \($0)" } ?? "")
        case .content(let offset):
            "does not have the content it has in the snapshot"
                + (offset.map { ", from byte \($0) on" } ?? "")
        case .unchecked(let reason): "was not compared with the snapshot: \(reason)"
        case .noAttributes(_, let items):
            "its filesystem stores no extended attributes: \(items) "
                + (items == 1 ? "item lost its" : "items lost theirs")
        case .attributes(let reason): "is missing some of its extended attributes: \(reason)"
        case .holes(let reason): "takes more space than before: \(reason)"
        }
    }

    /// A short name for the cause.
    package var name: String {
        switch cause {
        case .missing: "missing"
        case .different: "different"
        case .content: "content"
        case .unchecked: "unchecked"
        case .attributes, .noAttributes: "attributes"
        case .holes: "holes"
        }
    }
}
