/// Names that are valid on Linux and that programs get wrong.
package enum HostileNames {
    /// The names every command and every backup must carry unchanged.
    package static let all: [FileName] = [
        newline, trailingNewline, carriageReturn, trailingCarriageReturn, tab, leadingSpace,
        trailingSpace, onlySpace, leadingDash, directoryOption, hash, semicolon, globs, backslash,
        dollar, quotes, combiningMarks, includeRule, notUTF8, escapeSequence, longest,
    ]

    /// Ends a line in the middle of the name: two entries of a list read line by line.
    package static let newline: FileName = "new\nline"
    /// Ends with a line end, which `$(…)` and every trimming reader drop.
    package static let trailingNewline: FileName = "trailing newline\n"
    /// A carriage return, which some readers take for the end of a line.
    package static let carriageReturn: FileName = "carriage\rreturn"
    /// Ends with a carriage return, which readers of DOS line ends drop.
    package static let trailingCarriageReturn: FileName = "trailing carriage return\r"
    /// A tab, which separates columns.
    package static let tab: FileName = "tab\tstop"
    /// Begins with a space, which trimming readers drop.
    package static let leadingSpace: FileName = " leading space"
    /// Ends with a space, which trimming readers drop.
    package static let trailingSpace: FileName = "trailing space "
    /// Nothing but a space: an empty line to a trimming reader.
    package static let onlySpace: FileName = " "
    /// An option of `rm`, when it comes first in an argument.
    package static let leadingDash: FileName = "-rf"
    /// The option by which tar changes directory, also inside a list of files.
    package static let directoryOption: FileName = "-C"
    /// A comment to restic, rsync and many others.
    package static let hash: FileName = "# comment"
    /// A comment to rsync.
    package static let semicolon: FileName = "; comment"
    /// Every character of a shell pattern, and a backslash at the end.
    package static let globs: FileName = #"*?[a-z]{b,c}\"#
    /// Backslashes before letters that escape sequences use.
    package static let backslash: FileName = #"back\slash\n\x41\101"#
    /// Variables, which restic expands in an exclude file.
    package static let dollar: FileName = "$HOME ${HOME} $$ `id` $(id)"
    /// Quotes of every kind.
    package static let quotes: FileName = #"'single' "double" '"#
    /// Combining marks after the slash before the name, quotes, spaces and separators: in Swift
    /// each is one `Character` with them, which is not equal to the slash or the quote alone.
    package static let combiningMarks: FileName =
        "\u{301}mark '\u{301};\u{301} echo injected '\u{301} \"\u{301}a,\u{301}b:\u{301}=\u{301}"
    /// A filter rule to rsync.
    package static let includeRule: FileName = "+ **"
    /// Bytes that are not UTF-8: a lone continuation, 0xFF, and a character cut off.
    package static let notUTF8 = FileName([0x62, 0x80, 0x61, 0xFF, 0x64, 0xE2, 0x82])
    /// Turns a terminal's text red and sets its title.
    package static let escapeSequence: FileName = "\u{1B}[31mred\u{1B}]0;title\u{07}"
    /// 255 bytes, the longest a filesystem takes, with a two-byte character across the middle.
    package static let longest = FileName(Array((String(repeating: "é", count: 127) + "x").utf8))
}
