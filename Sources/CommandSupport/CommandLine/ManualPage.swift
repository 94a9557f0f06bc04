import ArgumentParser
import SystemCalls

/// The manual page of a program or of one of its commands, in man(7) format.
struct ManualPage {
    private let root: any ParsableCommand.Type
    private let command: any ParsableCommand.Type
    private let date: String

    /// - Returns: nil when there is no such command.
    init?(of name: String?, in root: any ParsableCommand.Type, date: String) {
        guard let command = name.map({ root.subcommand(named: $0) }) ?? root else { return nil }
        self.root = root
        self.command = command
        self.date = date
    }

    /// Returns the page.
    ///
    /// - Throws: `JSONError` when the parser describes commands in an unknown form.
    func text() throws(JSONError) -> String {
        let name = pageName(command)
        let abstract = command.configuration.abstract
        let summary = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        var page = [
            #".TH "\#(escaped(name.uppercased()))" 1 \#(date) "\#(root._commandName) "#
                + #"\#(CommandVersion.text)""#,
            // Options and names are never hyphenated.
            ".nh", ".ad l", ".SH NAME",
            escaped("\(name) ") + #"\-"# + escaped(" \(summary)"), ".SH SYNOPSIS",
            escaped(root.usageString(for: command).replacing("\n", with: " ")),
        ]
        var sections = sections(of: command)
        let description = sections.removeValue(forKey: "") ?? []
        page += [".SH DESCRIPTION"] + (description.isEmpty ? [escaped(abstract)] : description)
        page += commands() + (try options())
        let exitCodes =
            sections.removeValue(forKey: exitTitle) ?? self.sections(of: root)[exitTitle]
        let examples = sections.removeValue(forKey: "EXAMPLES")
        for (title, lines) in sections.sorted(by: { $0.key < $1.key }) {
            page += [".SH \(escaped(title))"] + lines
        }
        if let exitCodes { page += [".SH EXIT STATUS"] + exitCodes }
        if let examples { page += [".SH EXAMPLES"] + examples }
        page += [".SH SEE ALSO", references()]
        return page.joined(separator: "\n") + "\n"
    }

    private let exitTitle = "EXIT CODES"

    private func pageName(_ command: any ParsableCommand.Type) -> String {
        command == root ? root._commandName : "\(root._commandName)-\(command._commandName)"
    }

    /// Returns the sections of a help text in man(7) format; the text before the first heading
    /// has an empty title.
    private func sections(of command: any ParsableCommand.Type) -> [String: [String]] {
        var sections: [String: [String]] = [:]
        var title = ""
        var isLiteral = false
        func append(_ line: String) { sections[title, default: []].append(line) }
        func endLiteral() {
            if isLiteral { append(".fi\n.RE") }
            isLiteral = false
        }
        for line in command.configuration.discussion.split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if isHeading(line) {
                endLiteral()
                title = String(line)
            } else if line.isEmpty {
                endLiteral()
                append(".PP")
            } else if line.hasPrefix(" ") {
                if !isLiteral { append(".RS 2\n.nf") }
                isLiteral = true
                append(
                    escaped(
                        line.drop { $0 == " " }, indentedBy: line.prefix { $0 == " " }.count - 2))
            } else {
                endLiteral()
                append(escaped(line))
            }
        }
        endLiteral()
        return sections.mapValues { lines in
            Array(lines.reversed().drop { $0 == ".PP" }.reversed().drop { $0 == ".PP" })
        }
    }

    private func isHeading(_ line: Substring) -> Bool {
        !line.isEmpty && line.allSatisfy { $0 == " " || ($0.isLetter && $0.isUppercase) }
            && !line.hasPrefix(" ")
    }

    private func commands() -> [String] {
        guard command == root else { return [] }
        return [".SH COMMANDS"]
            + command.shownSubcommands.flatMap {
                [".TP", ".B \(escaped($0._commandName))", escaped($0.configuration.abstract)]
            }
    }

    private func options() throws(JSONError) -> [String] {
        let arguments = try CommandDescription(command).arguments
        guard !arguments.isEmpty else { return [] }
        return [".SH OPTIONS"] + arguments.flatMap { [".TP", tag(of: $0), text(of: $0)] }
    }

    private func tag(of argument: CommandDescription.Argument) -> String {
        let value = #"\fI"# + escaped(argument.valueName) + #"\fR"#
        guard argument.kind != .positional else { return value }
        let names = argument.names.map { #"\fB"# + escaped($0) + #"\fR"# }.joined(separator: ", ")
        return argument.kind == .option ? "\(names) \(value)" : names
    }

    private func text(of argument: CommandDescription.Argument) -> String {
        var text = argument.summary.isEmpty ? argument.valueName : argument.summary
        if !argument.valueNames.isEmpty {
            text += " One of: \(argument.valueNames.joined(separator: ", "))."
        }
        if let value = argument.defaultValue { text += " Default: \(value)." }
        return escaped(text.replacing("\n", with: " "))
    }

    private func references() -> String {
        let pages =
            command == root
            ? root.shownSubcommands : [root]
        return pages.map { #"\fB"# + escaped(pageName($0)) + #"\fR(1)"# }.joined(separator: ", ")
    }

    /// Returns text in which no character is a request to the formatter.
    private func escaped(_ text: some StringProtocol, indentedBy indent: Int = 0) -> String {
        let safe = String(text).replacing("\\", with: #"\e"#).replacing("-", with: #"\-"#)
            .replacing("'", with: #"\(aq"#).replacing("`", with: #"\(ga"#)
            .replacing("~", with: #"\(ti"#).replacing("^", with: #"\(ha"#)
        let spaces = String(repeating: " ", count: max(0, indent))
        return safe.hasPrefix(".") || indent > 0 ? #"\&"# + spaces + safe : safe
    }
}
