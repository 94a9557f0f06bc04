import SystemPackage
import TextFormats

/// The way in which a backup covers less than the one before.
package enum CoverageCause: Sendable, Hashable {
    /// An item that the predecessor contains is excluded.
    ///
    /// - Parameters:
    ///   - sentence: the reason, in words.
    ///   - items: the number of items below it that the predecessor contains.
    ///   - bytes: the sizes of the files among them, in bytes.
    case newlyExcluded(path: [UInt8], sentence: String, items: Int, bytes: Int64)
    /// An item is excluded for the first time by a mark that a user other than the item's owner may
    /// have set, whether the predecessor contains it or there is no predecessor.
    case doubtfulMark(path: [UInt8], sentence: String)
    /// Many fewer items are stored.
    case fewerItems(before: Int64, now: Int64)
    /// Many fewer bytes are stored.
    case fewerBytes(before: Int64, now: Int64)
    /// A SOURCE is empty that was not empty before.
    case emptySource([UInt8])
    /// A SOURCE is on another filesystem than before.
    case otherFilesystem([UInt8], before: String, now: String)
    /// There are earlier snapshots, but none of their records can be read: it is unknown whether
    /// less is covered.
    ///
    /// - Parameter sentence: what is wrong with the newest of them, in words.
    case incomparable(sentence: String)

    /// A short name for the cause.
    package var name: String {
        switch self {
        case .newlyExcluded: "newly-excluded"
        case .doubtfulMark: "doubtful-mark"
        case .fewerItems: "fewer-items"
        case .fewerBytes: "fewer-bytes"
        case .emptySource: "empty-source"
        case .otherFilesystem: "other-filesystem"
        case .incomparable: "incomparable"
        }
    }

    /// The item concerned; nil for the backup as a whole.
    package var path: [UInt8]? {
        switch self {
        case .newlyExcluded(let path, _, _, _), .emptySource(let path),
            .doubtfulMark(let path, _),
            .otherFilesystem(let path, _, _):
            path
        case .fewerItems, .fewerBytes, .incomparable: nil
        }
    }

    /// The cause in words, without the path.
    package var sentence: String {
        switch self {
        case .newlyExcluded(_, let sentence, let items, let bytes):
            "is newly excluded: \(sentence); the snapshot before contains "
                + "\(counted(items, "item")) of it with \(sizeText(bytes))"
        case .doubtfulMark(_, let sentence):
            "is excluded for the first time, and users other than its owner can set marks on it: "
                + sentence
        case .fewerItems(let before, let now):
            "items fell from \(before) to \(now), by more than 20 %"
        case .fewerBytes(let before, let now):
            "bytes fell from \(sizeText(before)) to \(sizeText(now)), by more than 20 %"
        case .emptySource: "is empty, and was not at the snapshot before"
        case .otherFilesystem(_, let before, let now):
            "is on another filesystem than at the snapshot before: \(now), not \(before)"
        case .incomparable(let sentence):
            "no earlier snapshot can be compared, so it is not known whether less is covered: "
                + sentence
        }
    }
}
