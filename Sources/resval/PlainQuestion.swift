import CommandSupport
import ResourceValues

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
