import EffectiveValues
import SystemCalls
import SystemPackage

/// The paths that tmpfiles.d excludes from cleaning, by lines of type `x` and `X`.
///
/// The walk carries along which patterns still match, so that only those are compared.
struct KeptPaths: Sendable {
    /// The state of matching at a directory: which patterns match so far, and how many of their
    /// parts.
    struct Position: Sendable, Hashable {
        fileprivate var candidates: [Candidate] = []

        /// Whether no pattern can match anything below.
        var isEmpty: Bool { candidates.isEmpty }
    }

    fileprivate struct Candidate: Sendable, Hashable {
        let pattern: Int
        let part: Int
    }

    /// What a matching pattern keeps.
    enum Match: Sendable, Hashable {
        /// The item, but not its content.
        case itself
        /// The item and everything below it.
        case whole
    }

    private let patterns: [TemporaryFilesPattern]

    init(_ patterns: [TemporaryFilesPattern]) { self.patterns = patterns }

    /// The position of `/`.
    var root: Position {
        var position = Position()
        for index in patterns.indices { add(Candidate(pattern: index, part: 0), to: &position) }
        return position
    }

    /// Returns the position of a directory, and whether it or a directory above it is kept with
    /// everything below.
    func position(of path: FilePath) -> (Position, isKept: Bool) {
        var position = root
        var isKept = false
        for component in path.components {
            let (match, next) = step(from: position, to: component.bytes)
            isKept = isKept || match == .whole
            position = next
        }
        return (position, isKept)
    }

    /// Returns how an entry of a directory matches, and the entry's own position.
    func step(from position: Position, to name: [UInt8]) -> (Match?, Position) {
        var match: Match?
        var next = Position()
        for candidate in position.candidates {
            let pattern = patterns[candidate.pattern]
            switch pattern.parts[candidate.part] {
            case .anything: add(candidate, to: &next)
            case .name(let wanted):
                guard wanted.matches(name) else { continue }
                let following = candidate.part + 1
                guard following == pattern.parts.count else {
                    add(Candidate(pattern: candidate.pattern, part: following), to: &next)
                    continue
                }
                match = pattern.keepsContent || match == .whole ? .whole : .itself
            }
        }
        return (match, next)
    }

    /// Adds a candidate; at a part that matches any number of names, the part after it is added
    /// too.
    private func add(_ candidate: Candidate, to position: inout Position) {
        guard !position.candidates.contains(candidate) else { return }
        position.candidates.append(candidate)
        let parts = patterns[candidate.pattern].parts
        if parts[candidate.part] == .anything, candidate.part + 1 < parts.count {
            add(Candidate(pattern: candidate.pattern, part: candidate.part + 1), to: &position)
        }
    }
}

/// The tmpfiles.d(5) files that exclude paths from cleaning.
struct TemporaryFilesSettings: Sendable {
    /// The directories of the system's tmpfiles.d files.
    static let systemDirectories: [FilePath] = [
        "/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d",
        "/etc/user-tmpfiles.d", "/usr/share/user-tmpfiles.d",
    ]

    /// Reads the `*.conf` files of directories.
    ///
    /// All files count, including those that systemd overrides by another of the same name, so that
    /// more is kept than necessary.
    ///
    /// - Parameter unreadable: called for each file or directory that exists but cannot be read.
    static func keptPaths(
        in directories: [FilePath], unreadable: (FileError) -> Void
    ) -> KeptPaths {
        var patterns: [TemporaryFilesPattern] = []
        for directory in directories {
            for path in files(in: directory, unreadable) {
                do throws(FileError) {
                    patterns += TemporaryFilesPattern.patterns(
                        in: try contentsOfFile(path, limit: settingsLimit))
                } catch {
                    if error.code != .noSuchFile { unreadable(error) }
                }
            }
        }
        return KeptPaths(patterns)
    }

    private static func files(
        in directory: FilePath, _ unreadable: (FileError) -> Void
    ) -> [FilePath] {
        var paths: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if name.suffix(5).elementsEqual(".conf".utf8) {
                    paths.append(directory.appending(FilePath(bytes: name).components))
                }
                return true
            }
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            unreadable(.readingDirectory(error, directory))
        }
        return paths
    }
}

/// The path pattern of a tmpfiles.d(5) line of type `x` or `X`.
struct TemporaryFilesPattern: Sendable, Hashable {
    /// One part of a path.
    enum Part: Sendable, Hashable {
        /// A pattern for one name.
        case name(NamePattern)
        /// Any number of names, at the start of a path that differs between systems.
        case anything
    }

    /// The parts from `/` down; never empty, and the last one is a name.
    let parts: [Part]
    /// Whether the content of a directory is kept too (`x`).
    let keepsContent: Bool

    /// Parses a line; nil for a line of another type, and for an invalid one.
    ///
    /// Specifiers are not expanded but match anything, so that more is kept than necessary.
    init?(line: some Collection<UInt8>) {
        var reader = WordReader(line)
        guard let type = reader.next(), let first = type.first, let path = reader.next()
        else { return nil }
        guard first == UInt8(ascii: "x") || first == UInt8(ascii: "X") else { return nil }
        keepsContent = first == UInt8(ascii: "x")
        var parts: [Part] = []
        for (index, name) in path.split(separator: UInt8(ascii: "/")).enumerated() {
            if index == 0, path.first != UInt8(ascii: "/") {
                // Only a specifier such as `%h` can expand to an absolute path.
                guard name.first == UInt8(ascii: "%") else { return nil }
                parts.append(.anything)
                if name.count > 2 { parts.append(.name(NamePattern(withoutSpecifiers(name)))) }
            } else {
                parts.append(.name(NamePattern(withoutSpecifiers(name))))
            }
        }
        guard case .name? = parts.last else { return nil }
        self.parts = parts
    }

    /// Parses the lines of a file.
    static func patterns(in contents: [UInt8]) -> [TemporaryFilesPattern] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap { TemporaryFilesPattern(line: $0) }
    }
}

/// Replaces each specifier in a name, such as `%b`, with a star, and `%%` with a percent sign.
private func withoutSpecifiers(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = name
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%"), let letter = rest.popFirst() else {
            result.append(byte)
            continue
        }
        result.append(letter == UInt8(ascii: "%") ? letter : UInt8(ascii: "*"))
    }
    return result
}

/// A reader that splits a line into words as systemd does: quotes keep words together, and a
/// backslash quotes the next byte or begins an escape such as `\xHH`.
private struct WordReader {
    private var rest: ArraySlice<UInt8>

    init(_ line: some Collection<UInt8>) { rest = Array(line)[...] }

    mutating func next() -> [UInt8]? {
        rest = rest.drop { Self.isSpace($0) }
        guard !rest.isEmpty, rest.first != UInt8(ascii: "#") else { return nil }
        var word: [UInt8] = []
        var quote: UInt8?
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                word.append(contentsOf: escaped())
            } else if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, Self.isSpace(byte) {
                return word
            } else {
                word.append(byte)
            }
        }
        return word
    }

    /// Reads what follows a backslash. Special characters of patterns keep their backslash.
    private mutating func escaped() -> [UInt8] {
        guard let byte = rest.popFirst() else { return [] }
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "s"): return [0x20]
        case UInt8(ascii: "x"):
            let digits = rest.prefix(2)
            guard digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return [byte] }
            rest = rest.dropFirst(2)
            return [value]
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "\\"):
            return [UInt8(ascii: "\\"), byte]
        default: return [byte]
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
