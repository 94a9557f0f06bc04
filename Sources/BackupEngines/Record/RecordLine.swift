import EffectiveValues
import ResourceValues

/// A line of a snapshot's record.
package enum RecordLine: Sendable, Hashable {
    /// Facts of the backup as a whole, without its SOURCEs.
    case facts(RecordFacts)
    /// A SOURCE.
    case source(RecordFacts.Source)
    /// An item that stores a protection class.
    case protected(RecordedProtection)
    /// How it covers less than the one before.
    case coverage(RecordedCause)
    /// An item that its owner may not write to and that has extended attributes, in records without
    /// digests of attributes.
    case readOnly(path: [UInt8])
    /// An item that has extended attributes, with their `AttributeDigest`; nil where not all could be
    /// read.
    case attributes(path: [UInt8], digest: String?)
    /// A file that is evicted into another repository: its size in bytes and the time its content last
    /// changed, by which snapshots that hold the content know it.
    case missing(size: Int64, modified: FileTime)
    /// An evicted file whose content the snapshot keeps.
    case kept(KeptFile)
    /// Something that was left out.
    case leftOut(RecordedExclusion)
}

/// Something a backup left out, as its record tells it.
package struct RecordedExclusion: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// Whether it is a directory, of which the entry itself is stored.
    package var isDirectory = false
    /// A short name for the reason, as `plan` tells it.
    package var reason = ""
    /// The reason in words.
    package var sentence = ""

    /// The record of an evicted file; nil for anything else, and where an older version wrote the line.
    package var record: EvictionRecord?

    /// Whether it is an evicted file, whose content is in a snapshot of its own.
    package var isEvicted: Bool { reason == "evicted" }
}

/// How a snapshot covers less than the one before, as its record tells it.
package struct RecordedCause: Sendable, Hashable {
    /// The absolute path's bytes; nil where it is the snapshot as a whole.
    package var path: [UInt8]?
    /// A short name for the cause.
    package var cause = ""
    /// The cause in words.
    package var sentence = ""
}

/// An item that stored a protection class, as a record tells it.
package struct RecordedProtection: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8] = []
    /// The name of the class.
    package var protectionClass = ""
}

/// Takes the lines of a record, one by one.
package protocol RecordHandler: Sendable {
    /// Takes a line. What was left out comes in a snapshot's order, after everything else.
    mutating func receive(_ line: RecordLine) throws(BackupError)
}
