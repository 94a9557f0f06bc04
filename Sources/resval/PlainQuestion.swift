import CommandSupport
import ResourceValues

/// `get KEY PATH` and `test KEY PATH` without any option: what scripts run in loops.
///
/// The parser asks Swift's runtime for dozens of protocol conformances, which takes longer than the
/// answer. Whatever is not exactly of this form goes to the parser, mistakes above all, so there is
/// one place that explains them.
struct PlainQuestion {
    private enum Word: String { case get, test }

    private let word: Word
    private let key: ResourceKey
    private let path: PathArgument

    /// - Parameter arguments: those of the process, each carrying its bytes.
    /// - Returns: nil when the parser is needed.
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
