import EffectiveValues
import ResourceValues

/// A line of a snapshot's record.
package enum RecordLine: Sendable, Hashable {
    /// The facts of the backup as a whole, without its SOURCEs.
    case facts(RecordFacts)
    /// A SOURCE.
    case source(RecordFacts.Source)
    /// An item with a protection class.
    case protected(RecordedProtection)
    /// A way in which the snapshot covers less than the previous one.
    case coverage(RecordedCause)
    /// An item with extended attributes that its owner may not write to; in records without
    /// attribute digests.
    case readOnly(path: [UInt8])
    /// An item with extended attributes, and their `AttributeDigest`; nil if not all could be read.
    case attributes(path: [UInt8], digest: String?)
    /// An evicted file whose content is not in the snapshot, though the file itself may be, stored
    /// with holes. Its size in bytes and modification time identify the content in other snapshots.
    /// The path is empty in lines written by older versions.
    case missing(path: [UInt8], size: Int64, modified: FileTime)
    /// An evicted file whose content is in the snapshot.
    case kept(KeptFile)
    /// An excluded item.
    case excluded(RecordedExclusion)
}

/// An item that a backup excluded, as recorded.
package struct RecordedExclusion: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// Whether it is a directory, whose own entry is stored.
    package var isDirectory = false
    /// A short name for the reason, as printed by `plan`.
    package var reason = ""
    /// The reason in words.
    package var sentence = ""

    /// The record of an evicted file; nil for other items, and in lines written by older versions.
    package var record: EvictionRecord?

    /// Whether it is an evicted file, whose content is in a separate snapshot.
    package var isEvicted: Bool { reason == "evicted" }
}

/// A way in which a snapshot covers less than the previous one, as recorded.
package struct RecordedCause: Sendable, Hashable {
    /// The absolute path's bytes; nil if the cause concerns the snapshot as a whole.
    package var path: [UInt8]?
    /// A short name for the cause.
    package var cause = ""
    /// The cause in words.
    package var sentence = ""
}

/// An item with a protection class, as recorded.
package struct RecordedProtection: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// The name of the class.
    package var protectionClass = ""
}

/// A handler that receives the lines of a record one by one.
package protocol RecordHandler: Sendable {
    /// Receives a line. Excluded items come last, in the order of a snapshot's entries.
    mutating func receive(_ line: RecordLine) throws(BackupError)
}
