import CommandSupport
import TextFormats

/// A command that translates marks and keeps a journal.
enum TransferCommand: String, Sendable, Hashable {
    /// Translates foreign marks into native ones.
    case `import`
    /// Translates native marks into foreign ones.
    case export
}

/// The first line of a journal.
struct JournalHeader: Sendable, Hashable {
    /// The command whose changes the journal records.
    let command: TransferCommand

    /// Creates a header.
    init(command: TransferCommand) { self.command = command }

    /// The header as one line of JSON, including the newline.
    var line: [UInt8] { line(version: 2) }

    private func line(version: Int) -> [UInt8] {
        var line = JSONLine()
        line.add("format", "resval-journal")
        line.add("version", version)
        line.add("command", command.rawValue)
        return line.ended()
    }

    /// Parses a line without its newline.
    ///
    /// - Returns: nil when the line is not a header of version 1 or 2. Entries of version 1 identify
    ///   items by device and inode only.
    init?(line: [UInt8]) {
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
