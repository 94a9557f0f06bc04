import ArgumentParser
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

struct ExcludeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exclude",
        abstract: "Exclude files and directories from backups.",
        discussion: """
            The same as set isExcludedFromBackup=true. Everything below an excluded directory is \
            excluded with it.

            EXAMPLES
              resval exclude ~/build ~/Downloads
              find ~/src -name node_modules -prune -print0 | resval exclude --files0-from -
            """)

    @OptionGroup var items: ChangeOptions

    func run() throws { try items.apply([MarkChange(.isExcludedFromBackup, to: true)]) }
}

struct PurgeableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Let files and directories be deleted when space is short.",
        discussion: """
            The same as set isPurgeable=true. A directory is deleted as a whole or not at all. \
            Nothing is deleted now: resval purge plan shows what could be.

            EXAMPLES
              resval purgeable ~/.cache/thumbnails
              resval unset purgeable ~/.cache/thumbnails
            """)

    @OptionGroup var items: ChangeOptions

    func run() throws { try items.apply([MarkChange(.isPurgeable, to: true)]) }
}

struct IncludeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "include",
        abstract: "Back up files and directories again.",
        discussion: """
            Removes the mark that excludes an item. Where a mark of another program or a location \
            would exclude it all the same, isExcludedFromBackup=false is stored instead, which \
            overrules both. Prints for each path what was done. An item below an excluded \
            directory stays excluded: that is an error, which names the directory.

            EXAMPLES
              resval include ~/build
              resval include ~/.cache
            """)

    @OptionGroup var items: ChangeOptions
    @OptionGroup var policy: SourcePolicyOptions

    func run() throws {
        let outcome = Outcome()
        let reader = try policy.reader()
        var buffer = OutputBuffer()
        items.forEach(outcome, beforeWaiting: { buffer.flush() }) { path throws(FileError) in
            let inclusion = try Inclusion(
                of: path.path, followingLink: path.followsSymbolicLink, reader)
            if let change = inclusion.change { try path.apply([change]) }
            buffer.append(name: path.bytes)
            buffer.append(text: ": \(inclusion.sentence)\n")
            buffer.endRecord()
            if let complaint = inclusion.complaint {
                Messages.write(about: Array(path.bytes), complaint)
                outcome.noteFailure()
            }
        }
        buffer.flush()
        try outcome.finish()
    }
}

/// The change that includes an item in backups, as far as a mark on the item can.
struct Inclusion {
    /// The change; nil if the item's mark does not exclude it.
    let change: MarkChange?
    /// The change and its reason, in words.
    let sentence: String
    /// Why the item is still excluded, and how to go on; nil if it is included.
    let complaint: String?

    /// Reads the marks of an item and of all directories above it.
    ///
    /// - Throws: ``FileError``, as ``EffectiveValueReader/item(at:followsLast:)``.
    init(
        of path: FilePath, followingLink follows: Bool, _ reader: EffectiveValueReader
    ) throws(FileError) {
        let real = try realPath(of: path, followsLast: follows)
        var chain = try ancestorChain(of: real, reader: MarkReader(reader.policy.markers))
            .map(\.item)
        guard var item = chain.popLast() else { throw .opening(.noSuchFileOrDirectory, path) }
        let mark = item.marks.isExcludedFromBackup
        item.marks.isExcludedFromBackup = .unset
        let unmarked = reader.policy.decide(chain + [item], source: reader.source).decision
            .exclusion
        let other: Exclusion? =
            unmarked.ancestor == nil
            ? (unmarked.isExcluded ? unmarked : nil)
            : item.foreignMarks.excluding.min().map { .marker($0) }
        switch (mark, other) {
        case (.value(false), _):
            change = nil
            sentence = "unchanged: its mark already says to back it up"
        case (.unset, nil):
            change = nil
            sentence = "unchanged: it has no mark that excludes it"
        case (_, let other?):
            change = MarkChange(.isExcludedFromBackup, to: false)
            sentence = "isExcludedFromBackup=false stored: without it, \(other.sentence)"
        case (_, nil):
            change = MarkChange(.isExcludedFromBackup, to: Bool?.none)
            sentence = "isExcludedFromBackup removed"
        }
        complaint = unmarked.ancestor.map { ancestor in
            "is still excluded: \(unmarked.sentence) "
                + "(resval include \(ShellWord.quoted(ancestor.bytes)))"
        }
    }
}
