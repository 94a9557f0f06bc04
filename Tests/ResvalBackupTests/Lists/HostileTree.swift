import SystemPackage
import TestSupport

/// The hostile names as files and directories, stored and left out side by side.
enum HostileTree {
    /// What the names are called in tables, in the order of `HostileNames.all`.
    static let labels = [
        "newline", "newline at the end", "carriage return", "carriage return at the end", "tab",
        "space at the start", "space at the end", "only a space", "`-rf`", "`-C`", "`# comment`",
        "`; comment`", "`*?[a-z]{b,c}\\`", "backslashes", "`$HOME` and its like", "quotes",
        "combining marks", "`+ **`", "bytes that are not UTF-8", "escape sequences", "255 bytes",
    ]

    static let tree = Tree {
        Directory("stored") {
            for name in HostileNames.all { File(name, "stored").purgeable() }
            File("left out here", "left out").excluded()
        }
        Directory("stored directories") {
            for name in HostileNames.all {
                Directory(name) { File("inside", "stored") }
            }
        }
        Directory("left out") {
            for name in HostileNames.all { File(name, "left out").excluded() }
            for name in decoys { File(name, "stored") }
        }
        Directory("left out directories") {
            for name in HostileNames.all {
                Directory(name) {
                    File("inside", "left out")
                    Directory("deeper") { File("inside", "left out") }
                }.excluded()
            }
            for name in decoys {
                Directory(name) { File("inside", "stored") }
            }
        }
        Directory("cache") {
            File("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
            File("CACHEDIR.TA", "left out")
            File("CACHEDIR.TAGS", "left out")
            File("C", "left out")
            Directory("deeper") { File("CACHEDIR.TAG", "left out") }
        }
        SymbolicLink("link", to: "stored")
        Directory("empty")
        Directory("emptied") { File("only", "left out").excluded() }
    }

    /// Names that a pattern for one of the others would take along if it were too wide.
    private static let decoys: [FileName] = [
        "new line", "new\rline", "trailing newline", "carriage return", "carriage\nreturn",
        "trailing carriage return", "tab stop", "leading space", "trailing space", "-r", "C", "-",
        "# commen", "comment", "+ *", "+ a", "*?a{b,c}\\", "*?b", "xya",
        "backslash", "$HOME", "'single' \"double\" ", "\u{1B}[31mre", "[31mred]0;title",
    ]
}
