import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy

/// A query for keys: for their stored or computed values, or for their effective values.
struct ValueQuestion {
    let keys: [ResourceKey]
    /// The reader of effective values; nil to query stored and computed values.
    var reader: EffectiveValueReader?

    /// Prints the values, as `get` does, and notes "no" in the outcome if a key has no value.
    func get(
        _ path: borrowing ListedPath, _ output: inout ValueOutput, _ outcome: Outcome
    ) {
        var decision: Decision?
        var (failure, reported): (FileError?, String?)
        do throws(FileError) {
            decision = try self.decision(at: path, outcome)
        } catch {
            failure = error
        }
        for key in keys {
            do throws(FileError) {
                if let failure { throw failure }
                let value = try value(of: key, at: path, decision)
                if value == nil { outcome.noteNo() }
                output.write(value, of: key, at: path.bytes)
            } catch {
                outcome.noteFailure()
                output.write(
                    error, of: key, at: path.bytes, isReported: error.description == reported)
                reported = error.description
            }
        }
    }

    /// Compares the value, as `test` does, and notes "no" in the outcome if it differs.
    func test(_ path: borrowing ListedPath, equals expected: ResourceValue, _ outcome: Outcome) {
        do throws(FileError) {
            let decision = try decision(at: path, outcome)
            for key in keys where try value(of: key, at: path, decision) != expected {
                outcome.noteNo()
            }
        } catch {
            outcome.report(error, at: path.bytes)
        }
    }

    /// Returns the decision about the item; nil if stored values are queried.
    ///
    /// A malformed mark is reported but does not prevent an answer.
    private func decision(
        at path: borrowing ListedPath, _ outcome: Outcome
    ) throws(FileError) -> Decision? {
        guard let reader else { return nil }
        let item = try reader.item(at: path.path, followsLast: path.followsSymbolicLink)
        for error in item.marks.errors(at: path) { outcome.report(error, at: path.bytes) }
        return item.decision
    }

    /// Returns the value; nil when it is unset or unknown.
    private func value(
        of key: ResourceKey, at path: borrowing ListedPath, _ decision: Decision?
    ) throws(FileError) -> ResourceValue? {
        switch key {
        case .volumeAvailableCapacityForImportantUsage:
            return try UsageCapacity(at: path).map { .number($0.important) }
        case .isSymbolicLink:
            return try path.path.withoutFollowing.resourceValue(for: key)
        default:
            guard let decision, let stored = key.stored else {
                return try path.resourceValue(for: key)
            }
            return decision.value(for: stored).map { .stored($0) }
        }
    }
}

struct ValueOutput: ~Copyable {
    let form: RecordOptions.Form
    let showsPath: Bool
    let showsKey: Bool
    var buffer = OutputBuffer()

    /// Prints a value; nil prints nothing except in JSON.
    mutating func write(
        _ value: ResourceValue?, of key: ResourceKey, at path: UnsafeBufferPointer<UInt8>
    ) {
        if form == .json { return writeObject(value, nil, key, path) }
        guard let value else { return }
        if showsPath {
            buffer.append(name: path, in: form)
            buffer.append(": ")
        }
        if showsKey { buffer.append(text: "\(key.name)=") }
        buffer.append(text: value.text)
        buffer.endRecord(in: form)
    }

    /// Reports an error on standard error, unless it is reported already; in JSON also as an object
    /// without a value.
    mutating func write(
        _ error: FileError, of key: ResourceKey, at path: UnsafeBufferPointer<UInt8>,
        isReported: Bool
    ) {
        if form == .json { writeObject(nil, error, key, path) }
        if !isReported { Messages.write(error, at: path) }
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeObject(
        _ value: ResourceValue?, _ error: FileError?, _ key: ResourceKey,
        _ path: UnsafeBufferPointer<UInt8>
    ) {
        var line = JSONLine.output()
        line.add(path: Array(path))
        line.add("key", key.name)
        line.add("value", value)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }
}
