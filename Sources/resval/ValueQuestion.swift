import CommandSupport
import EffectiveValues
import ResourceValues

/// A query for one key: for its stored or computed value, or for its effective value.
struct ValueQuestion {
    private let key: ResourceKey
    private let followsSymbolicLinks: Bool
    /// The reader of effective values; nil to query the stored or computed value.
    private let reader: EffectiveValueReader?

    init(
        _ key: ResourceKey, _ options: EffectiveOptions, followingSymbolicLinks: Bool
    ) throws {
        self.key = key
        followsSymbolicLinks = followingSymbolicLinks
        // Computed values are not inherited: the effective value is the item's own.
        reader = options.effective && key.isStored ? try options.reader() : nil
    }

    /// Creates a query for the stored or computed value.
    init(_ key: ResourceKey, followingSymbolicLinks: Bool) {
        self.key = key
        followsSymbolicLinks = followingSymbolicLinks
        reader = nil
    }

    /// Prints the value, as `get` does, and notes "no" in the outcome if there is none.
    func get(
        _ path: borrowing ListedPath, _ output: inout ValueOutput, _ outcome: Outcome
    ) {
        do throws(FileError) {
            let value = try value(at: path, outcome)
            if value == nil { outcome.noteNo() }
            output.write(value, of: path.bytes)
        } catch {
            outcome.noteFailure()
            output.write(error, of: path.bytes)
        }
    }

    /// Compares the value, as `test` does, and notes "no" in the outcome if it differs.
    func test(_ path: borrowing ListedPath, equals expected: ResourceValue, _ outcome: Outcome) {
        do throws(FileError) {
            if try value(at: path, outcome) != expected { outcome.noteNo() }
        } catch {
            Messages.write(error, at: path.bytes)
            outcome.noteFailure()
        }
    }

    /// Returns the value; nil when it is unset or unknown.
    ///
    /// For effective values, a malformed mark is reported but does not prevent an answer.
    private func value(
        at path: borrowing ListedPath, _ outcome: Outcome
    ) throws(FileError) -> ResourceValue? {
        if key == .volumeAvailableCapacityForImportantUsage {
            return try UsageCapacity(at: path).map { .number($0.important) }
        }
        guard let reader else { return try path.resourceValue(for: key) }
        let item = try reader.item(at: path.path, followsLast: followsSymbolicLinks)
        for error in item.marks.errors(at: path) {
            Messages.write(error, at: path.bytes)
            outcome.noteFailure()
        }
        return item.decision.value(for: key)
    }
}
