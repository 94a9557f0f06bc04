import CommandSupport
import TextFormats

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
    package var line: [UInt8] { line(version: 2) }

    private func line(version: Int) -> [UInt8] {
        var line = JSONLine()
        line.add("format", "resval-journal")
        line.add("version", version)
        line.add("command", command.rawValue)
        return line.ended()
    }

    /// Reads a line; nil when it is no header of this version or of the first, whose entries tell items by
    /// device and inode number alone.
    package init?(line: [UInt8]) {
        for command in [TransferCommand.import, .export] {
            let header = JournalHeader(command: command)
            for version in 1...2
            where header.line(version: version) == line + [UInt8(ascii: "\n")] {
                self = header
                return
            }
        }
        return nil
    }
}
