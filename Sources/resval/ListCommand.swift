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

            EXAMPLES
              resval list ~/build
              resval list --json ~/*
            """)

    @OptionGroup var input: PathOptions

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    func validate() throws { try input.requirePaths() }

    func run() throws {
        var buffer = OutputBuffer()
        try input.run(beforeWaiting: { buffer.flush() }) { path, outcome throws(FileError) in
            let marks: Marks
            do throws(FileError) {
                marks = try path.marks()
            } catch {
                if isJSON { writeObject(.none, error, path, &buffer) }
                throw error
            }
            isJSON ? writeObject(marks, nil, path, &buffer) : writeLines(marks, path, &buffer)
            for error in marks.errors(at: path) { outcome.report(error, at: path.bytes) }
        }
    }

    private func writeLines(
        _ marks: Marks, _ path: borrowing ListedPath, _ buffer: inout OutputBuffer
    ) {
        if !input.isSinglePath {
            buffer.append(name: path.bytes)
            buffer.append(":\n")
        }
        for key in StoredKey.allCases {
            if let value = marks[key].value { buffer.append(text: "\(key.name)=\(value.text)\n") }
        }
        buffer.endRecord()
    }

    private func writeObject(
        _ marks: Marks, _ error: FileError?, _ path: borrowing ListedPath,
        _ buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add(path: Array(path.bytes))
        line.add(marks)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }
}

extension JSONLine {
    mutating func add(_ marks: Marks) {
        for key in StoredKey.allCases { add(key.name, marks[key].value) }
        add("broken", strings: marks.brokenKeys.map(\.name))
    }
}
