import ResourceValues
import SystemPackage

/// An issue to report about an item's own marks.
public enum PolicyIssue: Sendable, Hashable {
    /// A native mark is malformed or cannot be read; it fails safe.
    indirect case malformed(BrokenMark)
    /// A mark would exclude a regular file that has more than one hard link, or an unknown number
    /// (nil); the file is backed up.
    case hardLinked(linkCount: Int?)
    /// Marks on the item contradict each other about its backup.
    case conflict(excluding: Set<Marker>, including: Set<Marker>)
    /// A mark above the source, or above the item if there is no source, cannot be read, and its
    /// directory belongs to another user. It counts as unset for backups, and as `false` for
    /// purging.
    indirect case unreadableAncestor(BrokenMark)
    /// A mark of another program may exist but cannot be read; it does not count.
    case unreadableMarker(Marker, Errno)
    /// A mark of another program would exclude the item, but for a reason, in words, why that is
    /// not certain; it does not count.
    indirect case uncertainMarker(Marker, String)
    /// A mark excludes an item that users other than its owner can write to, and so may have
    /// marked.
    case writableByOthers

    /// The issue's stable name: `malformed`, `unreadable`, `hard-linked`, `conflict`, `unreadable-ancestor`,
    /// `unreadable-marker`, `uncertain-marker` or `writable-by-others`.
    public var name: String {
        switch self {
        case .malformed(let mark): mark.isUnreadable ? "unreadable" : "malformed"
        case .hardLinked: "hard-linked"
        case .conflict: "conflict"
        case .unreadableAncestor: "unreadable-ancestor"
        case .unreadableMarker: "unreadable-marker"
        case .uncertainMarker: "uncertain-marker"
        case .writableByOthers: "writable-by-others"
        }
    }

    /// Whether a mark on the item is malformed or could not be read, rather than ignored.
    public var isTrouble: Bool {
        switch self {
        case .malformed, .unreadableMarker: true
        case .hardLinked, .conflict, .unreadableAncestor, .uncertainMarker, .writableByOthers: false
        }
    }

    /// The issue as text, without any path.
    public var sentence: String {
        switch self {
        case .malformed(let mark):
            "\(mark.keyName) fails safe: \(mark.error)"
        case .hardLinked(let linkCount):
            ExclusionCause.hardLinked(linkCount: linkCount).sentence
                + " (mark its directory to exclude it)"
        case .conflict(let excluding, let including):
            "marks disagree: \(list(excluding)) excludes it, \(list(including)) includes it"
        case .unreadableAncestor(let mark):
            "\(mark.keyName) of this directory, which belongs to another user, cannot be read: "
                + "it does not count for backups, and nothing below it is purged"
        case .writableByOthers:
            "a mark excludes it, and users other than its owner can write to it and set marks "
                + "(chmod go-w if the mark is right, else remove the mark)"
        case .unreadableMarker(let marker, let errno):
            "\(marker.meaning) cannot be read and does not count: \(errno)"
        case .uncertainMarker(let marker, let reason):
            "\(marker.meaning) does not count: \(reason)"
        }
    }
}

private func list(_ markers: Set<Marker>) -> String {
    markers.sorted().map(\.rawValue).joined(separator: ", ")
}

/// A native mark that exists but is malformed or cannot be read.
public struct BrokenMark: Sendable, Hashable, CustomStringConvertible {
    /// The property's name, such as `isPurgeable`.
    public let keyName: String
    /// The error: `malformedValue`, or the error of reading. Has no path.
    public let error: FileError
    /// Whether the attribute could not be read at all.
    public var isUnreadable: Bool { error.code != .malformedValue }

    /// What is the matter with it, as the predicate of a sentence.
    var fault: String { isUnreadable ? "cannot be read" : "is malformed" }

    /// Creates a broken mark; nil if the mark is not broken.
    public init?(_ mark: Mark, of key: StoredKey) {
        guard let error = mark.error(of: key, path: nil) else { return nil }
        keyName = key.name
        self.error = error
    }

    /// What is wrong.
    public var description: String { error.message }
}

extension Marks {
    var broken: [BrokenMark] {
        brokenKeys.compactMap { BrokenMark(self[$0], of: $0) }
    }
}
