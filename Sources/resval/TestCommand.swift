import ArgumentParser
import CommandSupport
import ResourceValues

struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test a value; the answer is the exit code.",
        discussion: """
            Silent. Exits with 0 when the key is true, or equal to VALUE; with 1 when it is not; \
            with 2 on an error. A key that is not Boolean needs a VALUE.

            EXAMPLES
              if resval test excluded ~/build; then echo excluded; fi
              resval test protection=complete ~/secret
              resval test --effective excluded ~/build/a.o
            """)

    @Argument(
        help: ArgumentHelp("A key, or a key and a value.", valueName: "key[=value]"),
        completion: KeyArgument.questionCompletion, transform: TestQuestion.init)
    var question: TestQuestion

    @Argument(help: "A file or directory.")
    var path: PathArgument

    @OptionGroup var effectiveOptions: EffectiveOptions

    @Flag(help: "Do not follow a symbolic link.")
    var noDereference = false

    func run() throws {
        let outcome = Outcome()
        let valueQuestion = try ValueQuestion([question.key], effectiveOptions)
        path.withListedPath(followingSymbolicLink: !noDereference) { item in
            valueQuestion.test(item, equals: question.value, outcome)
        }
        try outcome.finish()
    }
}

/// The key and the value that `test` compares it with.
struct TestQuestion {
    let key: ResourceKey
    let value: ResourceValue

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        key = try KeyArgument.any(String(parts[0]))
        if parts.count == 1 {
            guard key.valueType == .boolean else {
                throw ValidationError("\(key.name) is not Boolean: write \(key.name)=VALUE")
            }
            value = key.stored == nil ? .flag(true) : .stored(true)
        } else {
            guard let stored = key.stored else {
                throw ValidationError("\(key.name) is computed and is compared with no value")
            }
            value = .stored(try KeyArgument.value(String(parts[1]), for: stored))
        }
    }
}
