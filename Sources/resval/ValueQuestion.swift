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

    /// Asks for what is stored or computed.
    init(_ key: ResourceKey, followingSymbolicLinks: Bool) {
        self.key = key
        followsSymbolicLinks = followingSymbolicLinks
        reader = nil
    }

    /// Answers `get`: prints the value.
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

    /// Answers `test`: notes "no" unless the value is the expected one.
    func test(_ path: borrowing ListedPath, equals expected: ResourceValue, _ outcome: Outcome) {
        do throws(FileError) {
            if try value(at: path, outcome) != expected { outcome.noteNo() }
        } catch {
            Messages.write(error, at: path.bytes)
            outcome.noteFailure()
        }
    }

    /// The value; nil when it is unset or not known.
    ///
    /// A malformed mark does not keep the question what applies from being answered; it is reported.
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
