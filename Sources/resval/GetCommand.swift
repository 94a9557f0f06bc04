import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the values of keys.",
        discussion: """
            For one path the value alone, for several one line each, PATH: VALUE; for several keys \
            KEY=VALUE. A symbolic link is followed, except for isSymbolicLink. Prints nothing and exits \
            with 1 where a key is unset or not known.

            --fits asks only whether so much fits on the volume, its inodes and the quotas, by the exit \
            code; for important use also by what a purge would free.

            EXAMPLES
              resval get excluded ~/build
              resval get --effective excluded,purgeable ~/build/a.o
              resval get volumeAvailableCapacityForImportantUsage --fits 4G ~ && ./record
            """)

    @Argument(
        help: ArgumentHelp(
            "Keys with commas between them; 'resval keys' lists them.", valueName: "key"),
        completion: KeyArgument.completion, transform: KeyArgument.list)
    var keys: [ResourceKey]

    @OptionGroup var input: PathOptions

    @Flag(help: "Print what applies instead of what is stored.")
    var effective = false

    @Flag(name: [.customShort("H"), .long], help: "Print the path with a single value, too.")
    var withPath = false

    @Option(help: "Only exit with 0 when so much may be stored (20M, 4G), else with 1.")
    var fits: ByteSize?

    @OptionGroup var records: RecordOptions
    @OptionGroup var policyOptions: SourcePolicyOptions

    func validate() throws {
        try input.requirePaths()
        try policyOptions.check(effective: effective)
        if fits != nil {
            if use == nil {
                throw ValidationError(
                    "--fits takes volumeAvailableCapacityForImportantUsage or "
                        + "volumeAvailableCapacityForOpportunisticUsage")
            }
            if records.isJSON || records.endsWithNUL || withPath {
                throw ValidationError("--fits prints nothing: omit --json, --null and --with-path")
            }
        }
    }

    func run() throws {
        if let fits, let use {
            return try input.run { path, outcome throws(FileError) in
                let volume = StorageVolume(holding: path.path)
                if try !volume.fits(fits.bytes, for: use) { outcome.noteNo() }
            }
        }
        // Computed values are not inherited: the effective value is the item's own.
        let asksReader = effective && keys.contains { $0.stored != nil }
        let question = ValueQuestion(
            keys: keys,
            reader: asksReader ? try policyOptions.reader { $0.heeding(PurgePlaces($1)) } : nil)
        var output = ValueOutput(
            form: records.form, showsPath: withPath || !input.isSinglePath,
            showsKey: keys.count > 1)
        try input.run(beforeWaiting: { output.flush() }) { path, outcome in
            question.get(path, &output, outcome)
        }
    }

    /// What `--fits` asks for; nil if the keys are others.
    private var use: StorageUse? {
        switch keys {
        case [.volumeAvailableCapacityForImportantUsage]: .important
        case [.volumeAvailableCapacityForOpportunisticUsage]: .opportunistic
        default: nil
        }
    }
}

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

    @Flag(help: "Test what applies instead of what is stored.")
    var effective = false

    func run() throws {
        let outcome = Outcome()
        var reader: EffectiveValueReader?
        if effective && question.key.stored != nil {
            let environment = PolicyEnvironment.current()
            reader = try EffectiveValueReader(
                StoragePolicy(markers: Marker.defaultSet, locations: environment.locations)
                    .heeding(PurgePlaces(environment)))
        }
        let valueQuestion = ValueQuestion(keys: [question.key], reader: reader)
        path.withListedPath { item in valueQuestion.test(item, equals: question.value, outcome) }
        try outcome.finish()
    }
}

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
