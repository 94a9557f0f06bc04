import CommandSupport
import JSONReading

/// A command that writes marks because of others, and keeps a journal.
package enum TransferCommand: String, Sendable, Hashable {
    /// From foreign marks to native ones.
    case `import`
    /// From native marks to foreign ones.
    case export
}

/// The first line of a journal.
package struct JournalHeader: Sendable, Hashable {
    /// The command whose changes follow.
    package let command: TransferCommand

    /// Creates a header.
    package init(command: TransferCommand) { self.command = command }

    /// The header as a line of JSON, with a newline.
    package var line: [UInt8] {
        var line = JSONLine()
        line.add("format", "resval-journal")
        line.add("version", 1)
        line.add("command", command.rawValue)
        return line.ended()
    }

    /// Reads a line; nil when it is no header of this version.
    package init?(line: [UInt8]) {
        for command in [TransferCommand.import, .export]
        where JournalHeader(command: command).line == line + [UInt8(ascii: "\n")] {
            self.init(command: command)
            return
        }
        return nil
    }
}
