import EffectiveValues
import SystemCalls
import SystemPackage

/// The input that makes restic exclude exactly what the plan excludes.
package struct ResticSelection: Sendable, Hashable {
    /// A list for `--files-from-raw`: absolute paths, each followed by a NUL. Empty where the sources
    /// themselves are the arguments.
    package let list: [UInt8]
    /// The contents of the file for `--exclude-file`; empty when nothing needs a pattern.
    package let excludeFile: [UInt8]
    /// The directories whose entries are not stored, because there are too many with nothing to store in them.
    package let unlisted: Set<[UInt8]>

    /// The largest number of file patterns for which a list of paths does not pay. restic matches
    /// every entry against every pattern, at about 30 ns each.
    static let fewPatterns = 100

    init(list: [UInt8] = [], patterns: [ResticPattern], unlisted: Set<[UInt8]> = []) {
        (self.list, self.unlisted) = (list, unlisted)
        excludeFile = patterns.reduce(into: []) { $0 += $1.line + [UInt8(ascii: "\n")] }
    }

    /// Returns the exclusions that restic must be given: it excludes sockets by itself, and cannot
    /// open paths that are too long.
    static func exclusions(of plan: BackupPlan) -> [ExcludedItem] {
        plan.exclusions.filter { $0.reason != .socket && $0.reason != .tooLong } + plan.ownState
    }
}

extension BackupPlan {
    /// Chooses how to make restic exclude what the plan excludes.
    ///
    /// Few excluded files are named in an exclude file. Many are excluded by listing the smallest
    /// cover of everything else; a directory needs a pattern either way, because its entry is
    /// stored.
    ///
    /// - Throws: `FileError` when the sources cannot be walked for the list.
    package func resticSelection() throws -> ResticSelection {
        let exclusions = ResticSelection.exclusions(of: self)
        let fileCount = exclusions.count { !$0.isEmptied }
        if fileCount <= ResticSelection.fewPatterns,
            exclusions.count - fileCount <= SmallestCover.mostEmpty
        {
            return ResticSelection(
                patterns: exclusions.flatMap { ResticPattern.patterns(for: $0) })
        }
        return try SmallestCover(sources: sources, exclusions: exclusions).selection()
    }
}

/// A line of a restic exclude file that matches one absolute path and nothing else.
///
/// restic expands `$NAME`, trims white space as Unicode defines it, and matches with Go's
/// `filepath.Match`. Every name can be expressed: wildcards after a backslash, `$` doubled,
/// trailing white space in a character class, and a newline as the only character that a negated
/// class does not list.
package struct ResticPattern: Sendable, Hashable {
    /// The line, without its newline.
    package private(set) var line: [UInt8] = []

    /// Returns the patterns for an excluded item: a directory's contents, except for the file that
    /// is kept, or any other item itself.
    static func patterns(for item: ExcludedItem) -> [ResticPattern] {
        guard item.isEmptied else { return [ResticPattern(matching: item.path)] }
        let contents = ResticPattern(contentsOf: item.path)
        guard let kept = item.reason.keptFile?.name else { return [contents] }
        return [contents, ResticPattern(matching: item.path.pushing(kept)).negated]
    }

    /// The pattern that cancels an earlier match.
    private var negated: ResticPattern {
        var pattern = self
        pattern.line.insert(UInt8(ascii: "!"), at: 0)
        return pattern
    }

    package init(matching path: FilePath) {
        append(path.bytes)
        protectEnd(of: path.bytes)
    }

    /// Creates a pattern for everything in a directory, but not the directory itself.
    init(contentsOf directory: FilePath) {
        append(directory.bytes)
        if line.last != UInt8(ascii: "/") { line.append(UInt8(ascii: "/")) }
        line.append(UInt8(ascii: "*"))
    }

    private mutating func append(_ path: [UInt8]) {
        for byte in path {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["):
                line += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "$"):
                line += [byte, byte]
            case UInt8(ascii: "\n"):
                line += anyNewline
            default:
                line.append(byte)
            }
        }
    }

    /// Puts trailing white space, which restic would trim, into a character class.
    private mutating func protectEnd(of path: [UInt8]) {
        let end = path.suffix(4)
        // Tries each possible length of the last character; a newline is already in a class.
        for length in 1...max(end.count, 1) {
            guard let text = String(validating: end.suffix(length), as: UTF8.self),
                let last = text.unicodeScalars.first, text.unicodeScalars.count == 1
            else { continue }
            guard last.properties.isWhitespace, last != "\n" else { return }
            line.removeLast(length)
            line += [UInt8(ascii: "[")] + Array(end.suffix(length)) + [UInt8(ascii: "]")]
            return
        }
    }
}

/// `[^\x01-\x09\x0B-\U0010FFFF]`: matches a newline, by negating every other character. Bytes that
/// are not UTF-8 count as U+FFFD, which the class contains.
private let anyNewline: [UInt8] =
    [UInt8(ascii: "["), UInt8(ascii: "^"), 0x01, UInt8(ascii: "-"), 0x09, 0x0B, UInt8(ascii: "-")]
    + Array("\u{10FFFF}".utf8) + [UInt8(ascii: "]")]
