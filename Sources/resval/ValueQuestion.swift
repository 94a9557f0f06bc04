import CommandSupport
import EffectiveValues
import ResourceValues

/// Asks items for a key: for what is stored or computed, or for what applies.
struct ValueQuestion {
    private let key: ResourceKey
    private let followsSymbolicLinks: Bool
    /// nil to ask for what is stored.
    private let reader: EffectiveValueReader?

    init(
        _ key: ResourceKey, _ options: EffectiveOptions, followingSymbolicLinks: Bool
    ) throws {
        self.key = key
        followsSymbolicLinks = followingSymbolicLinks
        // What is computed of an item applies to it as it is.
        reader = options.effective && key.isStored ? try options.reader() : nil
    }

    /// The value; nil when it is unset or not known.
    ///
    /// A malformed mark does not keep the question what applies from being answered; it is reported.
    func value(
        at path: borrowing ListedPath, _ outcome: Outcome
    ) throws(FileError) -> ResourceValue? {
        guard let reader else { return try path.resourceValue(for: key) }
        let item = try reader.item(at: path.path, followsLast: followsSymbolicLinks)
        for error in item.marks.errors(at: path) {
            Messages.write(error, at: path.bytes)
            outcome.noteFailure()
        }
        return item.decision.value(for: key)
    }
}
