import EffectiveValues
import SystemCalls
import SystemPackage

/// A pattern of what a backup leaves out, by gitignore's rules: `*.iso` at any depth, `build/` for directories
/// only, `docs/*.pdf` from each SOURCE, `**` for any number of names, `!` to keep what an earlier one leaves
/// out. A `/` or `~/` at the start is the root of the filesystem or the home. `*` and `?` match bytes.
public struct ExclusionPattern: Sendable, Hashable {
    /// The pattern as it was written.
    public let text: String
    /// Where it was written, in words; nil where that needs no words.
    public let origin: String?
    /// Whether it takes back what earlier ones exclude.
    package let isNegated: Bool
    private let isOnlyForDirectories: Bool
    /// Whether it begins at the root of the filesystem, rather than at a source.
    let isAbsolute: Bool
    /// The names from there; nil for any number of names.
    private let names: [NamePattern?]

    /// Parses a pattern.
    ///
    /// - Parameters:
    ///   - bytes: the pattern where it is not UTF-8; `text` is then what is shown of it.
    ///   - origin: see ``origin``.
    ///   - home: what `~/` stands for; nil when it is not known.
    /// - Returns: nil for one without a name, a class such as `[:digit:]`, and `~/` without a home.
    public init?(
        _ text: String, bytes: [UInt8]? = nil, origin: String? = nil, home: FilePath?
    ) {
        (self.text, self.origin) = (text, origin)
        var rest = (bytes ?? Array(text.utf8))[...]
        isNegated = rest.first == UInt8(ascii: "!")
        if isNegated { rest.removeFirst() }
        isOnlyForDirectories = rest.last == UInt8(ascii: "/")
        while rest.last == UInt8(ascii: "/") { rest.removeLast() }
        var above: [NamePattern?] = []
        if rest.starts(with: "~/".utf8) {
            guard let home else { return nil }
            above = home.components.map { name in
                NamePattern(
                    name.bytes.flatMap { [UInt8(ascii: "\\"), $0] }, matchesBytes: true)
            }
            rest.removeFirst()
        }
        isAbsolute = rest.first == UInt8(ascii: "/")
        let parts = rest.split(separator: UInt8(ascii: "/"))
        guard !parts.isEmpty, !rest.contains(0), Array(rest).firstRange(of: Array("[:".utf8)) == nil
        else { return nil }
        if !rest.contains(UInt8(ascii: "/")) { above = [nil] }
        names =
            above
            + parts.map { $0.elementsEqual("**".utf8) ? nil : NamePattern($0, matchesBytes: true) }
    }

    /// Whether it fits a path.
    ///
    /// - Parameter path: the names from the root of the filesystem, or from a source.
    func matches(_ path: ArraySlice<ArraySlice<UInt8>>, isDirectory: Bool) -> Bool {
        guard isDirectory || !isOnlyForDirectories, let last = path.last else { return false }
        // Most items that do not match show it here.
        if let name = names.last ?? nil, !name.matches(last) { return false }
        // It fits at any depth.
        if names.count == 2, names[0] == nil { return true }
        var (name, position) = (0, path.startIndex)
        // Where to resume when what follows the last `**` does not fit: that takes one name more.
        var retry: (name: Int, position: Int)?
        while position < path.endIndex || name < names.count {
            if name < names.count, names[name] == nil {
                // At the end it stands for what is in a directory, and not for that itself.
                if name == names.count - 1 { return position < path.endIndex }
                retry = (name, position + 1)
                name += 1
                continue
            }
            if name < names.count, position < path.endIndex,
                names[name]?.matches(path[position]) == true
            {
                (name, position) = (name + 1, position + 1)
                continue
            }
            guard let last = retry, last.position <= path.endIndex else { return false }
            retry = (last.name, last.position + 1)
            (name, position) = (last.name + 1, last.position)
        }
        return true
    }

    /// The pattern with its origin, in words.
    public var words: String { "the pattern '\(text)'" + (origin.map { ", \($0)" } ?? "") }
}

/// The patterns of a backup, of which the last that fits an item decides.
struct ExclusionPatterns: Sendable {
    private let all: [ExclusionPattern]
    /// The number of names in the path of each source.
    private let depths: [Int]

    /// - Parameter sources: the real paths of what is walked.
    init(_ patterns: [ExclusionPattern], sources: [FilePath]) {
        all = patterns
        depths = sources.map { $0.components.count }
    }

    var isEmpty: Bool { all.isEmpty }

    /// Returns the pattern that excludes an item below a source; nil when none does.
    ///
    /// - Parameters:
    ///   - source: the number of the source that it is below.
    func excluding(_ path: [UInt8], isDirectory: Bool, below source: Int) -> ExclusionPattern? {
        let names = path.split(separator: UInt8(ascii: "/"))[...]
        let below = names.dropFirst(depths.indices.contains(source) ? depths[source] : 0)
        let decisive = all.last {
            $0.matches($0.isAbsolute ? names : below, isDirectory: isDirectory)
        }
        return decisive.flatMap { $0.isNegated ? nil : $0 }
    }

    /// Returns the pattern that excludes the only source, or everything in it; nil when none does.
    func excluding(source: FilePath) -> ExclusionPattern? {
        let absolute = ExclusionPatterns(all.filter(\.isAbsolute), sources: [])
        var path = source
        while !path.components.isEmpty {
            let found = absolute.excluding(path.bytes, isDirectory: true, below: 0)
            if let found { return found }
            path.removeLastComponent()
        }
        // Names that nothing has.
        let trials = ["\u{1}0a\u{2}", ".\u{1}0a\u{2}"].map { source.pushing(FilePath($0)).bytes }
        let found = trials.map { excluding($0, isDirectory: false, below: 0) }
        return found.contains(nil) ? nil : found.last ?? nil
    }
}
