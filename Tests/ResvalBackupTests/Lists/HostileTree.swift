import SystemPackage
import TestSupport

/// The hostile names as files and directories, stored and left out side by side.
enum HostileTree {
    /// The tree, without the names that a tool cannot be given.
    static func tree(where isUsed: (FileName) -> Bool) -> Tree {
        let names = HostileNames.all.filter(isUsed)
        let decoys = decoys.filter(isUsed)
        return Tree {
            Directory("stored") {
                for name in names { File(name, "stored").purgeable() }
                File("left out here", "left out").excluded()
            }
            Directory("stored directories") {
                for name in names {
                    Directory(name) { File("inside", "stored") }
                }
            }
            Directory("left out") {
                for name in names { File(name, "left out").excluded() }
                for name in decoys { File(name, "stored") }
            }
            Directory("left out directories") {
                for name in names {
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
            HardLink("hard link", to: "stored/-rf")
            Fifo("fifo")
            Directory("empty")
            Directory("emptied") { File("only", "left out").excluded() }
        }
    }

    /// Names that one of the others becomes, or matches, when a tool misreads it.
    private static let decoys: [FileName] = [
        "new line", "new\rline", "trailing newline", "carriage return", "carriage\nreturn",
        "trailing carriage return", "tab stop", "leading space", "trailing space", "-r", "C", "-",
        "# commen", "comment", "+ *", "+ a", "*?a{b,c}\\", "*?b", "xya",
        "backslash", "$HOME", "'single' \"double\" ", "\u{1B}[31mre", "[31mred]0;title",
        // Names that become the same when a tool composes characters, which is not done in every
        // locale, and bytes that are not UTF-8 in other places.
        "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{FB01}", "\u{FFFD}",
        "\u{FEFF}mark", "a\u{2028}b", "\u{85}", "~", "%2F", FileName([0x61, 0xFF]),
        FileName([0x61, 0xFE]), FileName([0x62, 0x81, 0x61, 0xFF, 0x64, 0xE2, 0x82]),
    ]
}
