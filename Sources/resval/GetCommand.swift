import ArgumentParser
import CommandSupport
import ResourceValues

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of a key.",
        discussion: """
            For one path the value alone, for several one line each, PATH: VALUE. A symbolic link \
            is followed, except for isSymbolicLink. Prints nothing and exits with 1 where the key \
            is unset or not known. With --effective the answer is what applies to the item, by its \
            own mark, the directories above it and its location; it is never unset but for a \
            protection class.

            JSON FIELDS
            \(JSONFields.item)
              key: string
              value: boolean or number or string or null (null when unset)
              error: string or null

            EXAMPLES
              resval get excluded ~/build
              resval get --effective excluded ~/build/a.o
              find . -print0 | resval get --files0-from - --json fileSize
            """)

    @Argument(
        help: "A key; 'resval keys' lists them.", completion: KeyArgument.completion,
        transform: KeyArgument.any)
    var key: ResourceKey

    @OptionGroup var input: PathOptions
    @OptionGroup var records: RecordOptions

    @OptionGroup var effectiveOptions: EffectiveOptions

    @Flag(help: "Ask about a symbolic link itself.")
    var noDereference = false

    @Flag(name: [.customShort("H"), .long], help: "Print the path with a single value, too.")
    var withPath = false

    @Flag(name: .customLong("no-path"), help: "Print values without paths.")
    var withoutPath = false

    func validate() throws {
        if withPath && withoutPath {
            throw ValidationError("give --with-path or --no-path, not both")
        }
    }

    func run() throws {
        let outcome = Outcome()
        let follows = !noDereference && key != .isSymbolicLink
        let question = try ValueQuestion(key, effectiveOptions, followingSymbolicLinks: follows)
        var output = ValueOutput(
            key: key, form: records.form,
            showsPath: withPath || (!withoutPath && !input.isSinglePath))
        input.forEach(
            followingSymbolicLinks: follows, outcome: outcome,
            beforeWaiting: { output.flush() },
            { path in question.get(path, &output, outcome) })
        output.flush()
        try outcome.finish()
    }
}
