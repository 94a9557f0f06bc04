import ArgumentParser
import CommandSupport
import ResourceValues

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy the marks of one item to another.",
        discussion: """
            Marks that are unset at the source stay as they are at the destination. A malformed \
            mark is never copied: then nothing is. With --all-attributes all extended attributes \
            are copied, but for those that /etc/xattr.conf says to skip. Symbolic links are \
            followed.

            EXAMPLES
              resval copy old.db new.db
              resval copy --all-attributes old.db new.db
            """)

    @Argument(help: "The item whose marks are copied.")
    var source: PathArgument

    @Argument(help: "The item to copy them to.")
    var destination: PathArgument

    @Flag(help: "Copy all extended attributes, as /etc/xattr.conf allows.")
    var allAttributes = false

    func run() throws {
        let target = destination.path
        try HomeGuard.check(target, shownAs: target, target.fileStatus())
        if allAttributes { return try source.path.copyExtendedAttributes(to: target) }
        _ = try source.path.copyMarks(to: target)
    }
}
