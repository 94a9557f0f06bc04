import ArgumentParser
import CommandSupport
import ResourceValues

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the values of keys.",
        discussion: """
            For one path the value alone, for several one line each, PATH: VALUE. For several keys \
            a line for each, KEY=VALUE instead of VALUE. A symbolic link is followed, except for \
            isSymbolicLink. Prints nothing and exits with 1 where a key is unset or not known. With \
            --effective the value is what applies to the item, by its \
            own mark, the directories above it and its location; only a protection class can be \
            unset then.

            JSON FIELDS
            \(JSONFields.item)
              key: string
              value: boolean or number or string or null (null when unset)
              error: string or null

            EXAMPLES
              resval get excluded ~/build
              resval get excluded,purgeable ~/build
              resval get --effective excluded ~/build/a.o
              find . -print0 | resval get --files0-from - --json fileSize
            """)

    @Argument(
        help: ArgumentHelp(
            "Keys with commas between them; 'resval keys' lists them.", valueName: "key"),
        completion: KeyArgument.completion, transform: KeyArgument.list)
    var keys: [ResourceKey]

    @OptionGroup var input: PathOptions
    @OptionGroup var records: RecordOptions

    @OptionGroup var effectiveOptions: EffectiveOptions

    @Flag(help: "Do not follow a symbolic link.")
    var noDereference = false

    @Flag(name: [.customShort("H"), .long], help: "Print the path with a single value, too.")
    var withPath = false

    @Flag(name: .customLong("no-path"), help: "Print values without paths.")
    var withoutPath = false

    func validate() throws {
        try input.requirePaths()
        if withPath && withoutPath {
            throw ValidationError("give --with-path or --no-path, not both")
        }
    }

    func run() throws {
        let outcome = Outcome()
        let question = try ValueQuestion(keys, effectiveOptions)
        var output = ValueOutput(
            form: records.form, showsPath: withPath || (!withoutPath && !input.isSinglePath),
            showsKey: keys.count > 1)
        input.forEach(
            followingSymbolicLinks: !noDereference, outcome: outcome,
            beforeWaiting: { output.flush() },
            { path in question.get(path, &output, outcome) })
        output.flush()
        try outcome.finish()
    }
}
