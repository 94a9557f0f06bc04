import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy

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

/// A command line `get KEY PATH` or `test KEY PATH` without options, as scripts run in loops.
///
/// The argument parser looks up dozens of protocol conformances in the Swift runtime, which takes
/// longer than reading the value. Every other command line goes to the parser, including invalid
/// ones, so that only the parser reports errors of usage.
struct PlainQuestion {
    private enum Word: String { case get, test }

    private let word: Word
    private let key: ResourceKey
    private let path: PathArgument

    /// Creates a question from a command line.
    ///
    /// - Parameter arguments: The process's arguments, encoded so that each preserves its bytes.
    /// - Returns: nil when the command line needs the parser.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, let word = Word(rawValue: arguments[0]),
            let key = ResourceKey(anyName: arguments[1]),
            !arguments[2].hasPrefix("-"), let path = PathArgument(argument: arguments[2])
        else { return nil }
        if word == .test && key.valueType != .boolean { return nil }
        self.word = word
        self.key = key
        self.path = path
    }

    func answer() throws {
        let outcome = Outcome()
        let question = ValueQuestion(key, followingSymbolicLinks: key != .isSymbolicLink)
        path.withListedPath(followingSymbolicLink: key != .isSymbolicLink) { item in
            switch word {
            case .get:
                var output = ValueOutput(key: key, form: .lines, showsPath: false)
                question.get(item, &output, outcome)
                output.flush()
            case .test:
                question.test(item, equals: .boolean(true), outcome)
            }
        }
        try outcome.finish()
    }
}

/// Prints the values of one key.
struct ValueOutput: ~Copyable {
    let key: ResourceKey
    let form: RecordOptions.Form
    let showsPath: Bool
    private var buffer = OutputBuffer()

    init(key: ResourceKey, form: RecordOptions.Form, showsPath: Bool) {
        self.key = key
        self.form = form
        self.showsPath = showsPath
    }

    /// Prints a value; nil prints nothing except in JSON.
    mutating func write(_ value: ResourceValue?, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { return writeObject(value, nil, path) }
        guard let value else { return }
        if showsPath {
            buffer.append(name: path, in: form)
            buffer.append(": ")
        }
        buffer.append(value)
        buffer.endRecord(in: form)
    }

    /// Reports an error on standard error; in JSON also as an object without a value.
    mutating func write(_ error: FileError, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { writeObject(nil, error, path) }
        Messages.write(error, at: path)
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeObject(
        _ value: ResourceValue?, _ error: FileError?, _ path: UnsafeBufferPointer<UInt8>
    ) {
        var line = JSONLine.output()
        line.add(path: Array(path))
        line.add("key", key.name)
        line.add("value", value)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }
}

extension Decision {
    /// Returns the effective value of a stored key; nil for computed keys, which are not inherited,
    /// and when no protection class applies.
    func value(for key: ResourceKey) -> ResourceValue? {
        switch key {
        case .isExcludedFromBackup: .boolean(isExcluded)
        case .isPurgeable: .boolean(isPurgeable)
        case .fileProtection: protectionClass.map { .protection($0) }
        default: nil
        }
    }
}
