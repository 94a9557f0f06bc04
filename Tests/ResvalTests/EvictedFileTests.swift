import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Evicted files and terminals in resval", .cleansUp)
struct EvictedFileTests {
    /// Makes a directory with a placeholder as an ordinary user has it.
    private func directoryWithPlaceholder() throws -> FilePath {
        try require(.root, .tool("setpriv"))
        let root = try temporaryDirectory(isShared: true) {
            File("it's here").attribute(
                "user.resval.evicted.0123456789abcdef.fedcba9876543210.0.644.1234567890-0", "")
        }
        let file = root.appending("it's here")
        try tool("truncate", "--size", "1M", file)
        try tool("touch", "-d", "@1234567890", file)
        try tool("chmod", "0", file)
        try tool("chown", "-R", "4711:4711", root)
        return root
    }

    @Test("explain says that a file is evicted, and how it comes back")
    func explained() throws {
        let root = try directoryWithPlaceholder()
        try resval("explain", "it's here", in: root, user: 4711).expect(
            exits: 0,
            prints: "  evicted: yes: its content is in snapshot fedcba98 of repository 01234567 "
                + "(resval-backup download '\(root)/it'\\''s here')\n")
        let json = try resval("explain", "--json", "it's here", in: root, user: 4711)
        #expect(
            json.text.hasSuffix(
                #","evicted":{"state":"placeholder","repository":"0123456789abcdef","snapshot":"fedcba9876543210"}}"#
                    + "\n"), "\(json)")
    }

    @Test("set on one does not advise to give it permission bits", arguments: [false, true])
    func refused(isRecursive: Bool) throws {
        let root = try directoryWithPlaceholder()
        let path: any CommandArgument = isRecursive ? "." : "it's here"
        var arguments: [any CommandArgument] = ["set", "excluded=true", path]
        if isRecursive { arguments.append("-R") }
        let result = try resval(arguments: arguments, in: root, user: 4711)
        result.expect(
            exits: 2,
            says: "the file is evicted, so nothing can be stored on it (first: resval-backup "
                + "download ")
        #expect(!result.errorText.contains("chmod"), "\(result)")
    }

    @Test("load says what it reads from a terminal, and nothing of it elsewhere")
    func terminal() throws {
        try require(.tool("script"))
        let root = try temporaryDirectory()
        // A terminal whose input ends at once.
        let command = Command(.built("resval"), "marks", "load", in: root)
        let result = try command.onTerminal("dumb").run()
        #expect(
            result.text.hasPrefix(
                "resval: reading marks from the terminal (end them with Ctrl-D, or name a file)"
            ),
            "\(result)")
        let piped = try resval("marks", "load", in: root)
        #expect(!piped.errorText.contains("terminal"), "\(piped)")
    }
}
