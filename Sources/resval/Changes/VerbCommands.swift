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

            \(undoHelp)

            EXAMPLES
              resval exclude ~/build ~/Downloads
              find ~/src -name node_modules -prune -print0 | resval exclude --files0-from -
            """)

    @OptionGroup var items: ChangeOptions

    func run() throws {
        try items.apply(.exclude, [MarkChange(.isExcludedFromBackup, to: true)])
    }
}

struct PurgeableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Let items be deleted when space is short.",
        discussion: """
            The same as set isPurgeable=true. A directory is deleted as a whole or not at all. \
            Nothing is deleted now: resval purge plan shows what could be.

            \(undoHelp)

            EXAMPLES
              resval purgeable ~/.cache/thumbnails
              resval unset purgeable ~/.cache/thumbnails
            """)

    @OptionGroup var items: ChangeOptions

    func run() throws { try items.apply(.purgeable, [MarkChange(.isPurgeable, to: true)]) }
}

struct IncludeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "include",
        abstract: "Back up files and directories again.",
        discussion: """
            Removes the mark that excludes an item. Where a mark of another program or a location \
            would still exclude it, isExcludedFromBackup=false is stored instead, which overrides \
            both. Prints for each path what was done. An item below an excluded \
            directory stays excluded: that is an error, which names the directory.

            \(undoHelp)

            EXAMPLES
              resval include ~/build
              resval include ~/.cache
            """)

    @OptionGroup var items: ChangeOptions
    @OptionGroup var markers: MarkerOptions

    func run() throws {
        let reader = try EffectiveValueReader(markers.policy(in: PolicyEnvironment.current()))
        try items.apply(.include) { path throws(FileError) in
            let change = try inclusion(
                of: path.path, followingLink: path.followsSymbolicLink, reader)
            if change.complaint == nil { reportUnaskedSettings() }
            return change
        }
    }
}

/// Returns the change that includes an item in backups, as far as a mark on the item can. Reads the
/// marks of the item and of all directories above it.
///
/// - Throws: ``FileError``, as ``EffectiveValueReader/item(at:followsLast:)``.
private func inclusion(
    of path: FilePath, followingLink follows: Bool, _ reader: EffectiveValueReader
) throws(FileError) -> ItemChange {
    let real = try realPath(of: path, followsLast: follows)
    var chain = try ancestorChain(of: real, reader: reader.markReader)
        .map(\.item)
    guard var item = chain.popLast() else { throw .opening(.noSuchFileOrDirectory, path) }
    let mark = item.marks[.isExcludedFromBackup]
    item.marks[.isExcludedFromBackup] = .unset
    let unmarked = reader.policy.decide(chain + [item]).decision.exclusion
    let other: ExclusionCause? =
        unmarked.ancestor == nil
        ? (unmarked.cause.isExcluded ? unmarked.cause : nil)
        : item.foreignMarks.exclusion(among: reader.policy.markers)
    let complaint = unmarked.ancestor.map { ancestor in
        "is still excluded: \(unmarked.sentence) "
            + "(resval include \(ShellWord.quoted(ancestor.bytes)))"
    }
    switch (mark, other) {
    case (.value(false), _):
        return ItemChange([], reason: "its mark already includes it", complaint: complaint)
    case (.unset, nil):
        return ItemChange([], reason: "it has no mark that excludes it", complaint: complaint)
    case (_, let other?):
        return ItemChange(
            [MarkChange(.isExcludedFromBackup, to: false)],
            reason: "without it, \(other.sentence)", complaint: complaint)
    case (_, nil):
        return ItemChange(
            [MarkChange(.isExcludedFromBackup, to: nil)],
            reason: complaint == nil ? "nothing excludes it now" : "its own mark excluded it",
            complaint: complaint)
    }
}
