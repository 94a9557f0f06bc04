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
