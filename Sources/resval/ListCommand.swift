import ArgumentParser
import CommandSupport
import ResourceValues

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print every value stored on files and directories.",
        discussion: """
            One line KEY=VALUE for each value; with several paths a line PATH: before those of each. \
            Nothing stored is a success. A symbolic link is followed.

            JSON FIELDS
            \(JSONFields.item)
            \(markFields)
              error: string or null

            EXAMPLES
              resval list ~/build
              resval list --json ~/*
            """)

    @OptionGroup var input: PathOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "List a symbolic link itself.")
    var noDereference = false

    func validate() throws { try input.requirePaths() }

    func run() throws {
        let outcome = Outcome()
        var output = MarksOutput(
            form: records.form, showsPath: !input.isSinglePath, color: color.color)
        input.forEach(
            followingSymbolicLinks: !noDereference, outcome: outcome,
            beforeWaiting: { output.flush() },
            { path in
                do throws(FileError) {
                    let marks = try path.marks()
                    output.write(marks, of: path.bytes)
                    for error in marks.errors(at: path) {
                        Messages.write(error, at: path.bytes)
                        outcome.noteFailure()
                    }
                } catch {
                    output.write(error, of: path.bytes)
                    outcome.noteFailure()
                }
            })
        output.flush()
        try outcome.finish()
    }
}

/// Prints all marks of items.
struct MarksOutput: ~Copyable {
    let form: RecordOptions.Form
    let showsPath: Bool
    private let isColored: Bool
    private var buffer = OutputBuffer()

    init(form: RecordOptions.Form, showsPath: Bool, color: ColorMode) {
        self.form = form
        self.showsPath = showsPath
        isColored = form == .lines && color.colorsStandardOutput
    }

    mutating func write(_ marks: Marks, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { return writeObject(marks, nil, path) }
        if showsPath {
            buffer.append(name: path, in: form)
            buffer.append(":")
            buffer.endRecord(in: form)
        }
        for key in StoredKey.allCases {
            guard let value = marks[key].value else { continue }
            buffer.append(text: key.name)
            buffer.append("=")
            buffer.append(text: value.text, in: isColored ? OutputColor(value: value.text) : nil)
            buffer.endRecord(in: form)
        }
    }

    /// Reports an error on standard error; in JSON also as an object without values.
    mutating func write(_ error: FileError, of path: UnsafeBufferPointer<UInt8>) {
        if form == .json { writeObject(.none, error, path) }
        Messages.write(error, at: path)
    }

    mutating func flush() { buffer.flush() }

    private mutating func writeObject(
        _ marks: Marks, _ error: FileError?, _ path: UnsafeBufferPointer<UInt8>
    ) {
        var line = JSONLine.output()
        line.add(path: Array(path))
        line.add(marks)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }
}

/// What help says about the fields for all marks.
let markFields = """
      isExcludedFromBackup: boolean or null (null when unset or broken)
      isPurgeable: boolean or null
      fileProtection: string or null
      broken: strings (keys with a malformed or unreadable mark)
    """

extension OutputColor {
    /// The colour of a mark's or key's value; nil for other values than true and false.
    init?(value: String) {
        switch value {
        case "true": self = .yellow
        case "false": self = .green
        default: return nil
        }
    }
}

extension JSONLine {
    /// Adds the fields for all marks.
    mutating func add(_ marks: Marks) {
        for key in StoredKey.allCases { add(key.name, marks[key].value) }
        add("broken", strings: marks.brokenKeys.map(\.name))
    }
}
