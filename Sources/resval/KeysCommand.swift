import ArgumentParser
import CommandSupport
import ResourceValues

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List every key, with its type and meaning.",
        discussion: """
            Stored keys can be set, computed ones cannot. Wherever a key is expected, its \
            Foundation name (NSURLIsPurgeableKey) and its short name are understood, too.

            EXAMPLES
              resval keys
              resval keys --json
            """)

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    func run() {
        var buffer = OutputBuffer()
        for key in ResourceKey.allCases {
            isJSON ? writeObject(key, &buffer) : writeLine(key, &buffer)
        }
        buffer.flush()
    }

    private func writeLine(_ key: ResourceKey, _ buffer: inout OutputBuffer) {
        let columns = [
            (key.name, 45), (key.shortName ?? "-", 11), (key.valueType.rawValue, 16),
            ((key.stored != nil) ? "stored, settable" : "computed", 17),
        ]
        for (text, width) in columns {
            buffer.append(text: text)
            buffer.append(text: String(repeating: " ", count: max(1, width - text.count)))
        }
        buffer.append(text: key.summary)
        buffer.append("\n")
    }

    private func writeObject(_ key: ResourceKey, _ buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("key", key.name)
        line.add("foundationKey", key.foundationName)
        line.add("shortName", key.shortName)
        line.add("type", key.valueType.rawValue)
        line.add("isStored", (key.stored != nil))
        line.add("isSettable", (key.stored != nil))
        line.add("values", strings: key.stored?.valueTexts ?? [])
        line.add("summary", key.summary)
        line.end(in: &buffer)
    }
}
