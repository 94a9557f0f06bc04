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
        let short = key.shortName.map { " (\($0))" } ?? ""
        let origin = key.stored == nil ? "computed" : "stored"
        buffer.append(text: "\(key.name)\(short): \(key.valueType.rawValue), \(origin)\n")
        buffer.append(text: "    \(key.summary)\n")
    }

    private func writeObject(_ key: ResourceKey, _ buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("key", key.name)
        line.add("foundationKey", key.foundationName)
        line.add("shortName", key.shortName)
        line.add("type", key.valueType.rawValue)
        line.add("isStored", key.stored != nil)
        line.add("isSettable", key.stored != nil)
        line.add("values", strings: key.stored?.valueTexts ?? [])
        line.add("summary", key.summary)
        line.end(in: &buffer)
    }
}
