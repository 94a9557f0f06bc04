/// An item that a restore did not bring back as it is in the snapshot.
package struct RestoreFailure: Sendable, Hashable {
    /// What happened to it.
    package enum Cause: Sendable, Hashable {
        /// It is not there; restic's words where it said why.
        case missing(String?)
        /// It is there, with another kind, size or time of modification, or the engine complained of it.
        case different(String?)
        /// Its content is not that of the snapshot: from which byte on, where that is known.
        case content(offset: Int64?)
        /// Its content could not be compared with the snapshot.
        case unchecked(String)
        /// Its extended attributes are not all there.
        case attributes(String)
        /// Its filesystem, on a device, stores no extended attributes: it and so many items in all lost
        /// theirs.
        case noAttributes(device: UInt64, items: Int)
        /// Its holes could not be dug again: it takes more space than it did.
        case holes(String)
    }

    /// The absolute path in the snapshot.
    package let path: [UInt8]
    /// What happened to it.
    package let cause: Cause

    /// Whether what is there is not what is in the snapshot, or may not be.
    package var isDamage: Bool {
        switch cause {
        case .missing, .different, .content, .unchecked: true
        case .attributes, .noAttributes, .holes: false
        }
    }

    /// What happened, in words.
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
        case .attributes(let reason): "lacks some of its extended attributes: \(reason)"
        case .holes(let reason): "takes more space than it did: \(reason)"
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
