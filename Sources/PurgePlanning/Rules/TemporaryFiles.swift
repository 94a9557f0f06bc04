import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The paths that tmpfiles.d has lines for, which systemd leaves out when it cleans what they lie in.
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

    enum Match: Sendable, Hashable {
        /// The item, but not its content.
        case itself
        /// The item, and of its content what is younger than an age in seconds.
        case aged(Int64)
        /// The item and everything below it.
        case whole

        /// Returns what two lines keep together.
        func and(_ other: Match?) -> Match {
            switch (self, other) {
            case (.whole, _), (_, .whole): .whole
            case (.aged(let age), .aged(let other)): .aged(max(age, other))
            case (.itself, let other?): other
            default: self
            }
        }
    }

    private let lines: [TemporaryFilesLine]
    /// The age in seconds at which systemd deletes what is in `/tmp`, and what is in `/var/tmp`; nil for
    /// never. Without an element where no line says so.
    private let ages: [TemporaryFilesLine.Directory: Int64?]

    init(_ lines: [TemporaryFilesLine]) {
        self.lines = lines.filter { $0.directory == nil }
        // The first line counts.
        ages = Dictionary(
            lines.compactMap { line in line.directory.map { ($0, line.age) } }
        ) { first, _ in first }
    }

    /// Returns the age in seconds at which systemd deletes what is in a directory for temporary files; nil
    /// for never, and 0 where no line says so.
    func age(keepsLonger: Bool) -> Int64? { ages[keepsLonger ? .varTmp : .tmp] ?? 0 }

    var root: Position {
        var position = Position()
        for index in lines.indices { add(Candidate(pattern: index, part: 0), to: &position) }
        return position
    }

    /// Returns the position of a directory, and whether it is kept, or a directory above it with
    /// everything below.
    func position(of path: FilePath) -> (Position, isKept: Bool) {
        var position = root
        var (isKept, isLastKept) = (false, false)
        for component in path.components {
            let (match, next) = step(from: position, to: component.bytes)
            isKept = isKept || match == .whole
            isLastKept = match != nil
            position = next
        }
        return (position, isKept || isLastKept)
    }

    /// Returns how an entry of a directory matches, and the entry's own position.
    func step(from position: Position, to name: [UInt8]) -> (Match?, Position) {
        var match: Match?
        var next = Position()
        for candidate in position.candidates {
            let line = lines[candidate.pattern]
            switch line.parts[candidate.part] {
            case .anything: add(candidate, to: &next)
            case .name(let wanted):
                guard wanted.matches(name) else { continue }
                let following = candidate.part + 1
                guard following == line.parts.count else {
                    add(Candidate(pattern: candidate.pattern, part: following), to: &next)
                    continue
                }
                match = line.keeps.and(match)
            }
        }
        return (match, next)
    }

    /// Adds a candidate; at a part that matches any number of names, the part after it is added
    /// too.
    private func add(_ candidate: Candidate, to position: inout Position) {
        guard !position.candidates.contains(candidate) else { return }
        position.candidates.append(candidate)
        let parts = lines[candidate.pattern].parts
        if parts[candidate.part] == .anything, candidate.part + 1 < parts.count {
            add(Candidate(pattern: candidate.pattern, part: candidate.part + 1), to: &position)
        }
    }
}

/// The tmpfiles.d(5) files, of which those of the same name override each other.
struct TemporaryFilesSettings {
    /// The directories of the system's files, and of those for all users, in order of precedence.
    static let systemDirectories: [FilePath] = [
        "/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d",
        "/etc/user-tmpfiles.d", "/run/user-tmpfiles.d", "/usr/local/share/user-tmpfiles.d",
        "/usr/share/user-tmpfiles.d",
    ]

    private let environment: PolicyEnvironment
    private let directories: [FilePath]
    /// What specifiers stand for in files of the system, and in those of users.
    private let system: [UInt8: [UInt8]]
    private let user: [UInt8: [UInt8]]

    /// - Parameters:
    ///   - directories: the directories of the system's files.
    ///   - environment: has the directories of the user, whose own files come first.
    init(in directories: [FilePath], _ environment: PolicyEnvironment) {
        self.environment = environment
        let base = environment.base
        let runtime = environmentVariable("XDG_RUNTIME_DIR").map { FilePath(bytes: $0) }
        self.directories =
            [base.configurationHome?.path, runtime, base.dataHome?.path].compactMap { $0 }
            .map { $0.appending("user-tmpfiles.d") } + directories
        system = Self.specifiers([
            "t": "/run", "h": "/root", "C": "/var/cache", "S": "/var/lib", "L": "/var/log",
            "T": "/tmp", "V": "/var/tmp",
        ])
        user = Self.specifiers([
            "t": runtime, "h": base.home, "C": base.cacheHome?.path, "S": base.stateHome?.path,
            "T": base.temporaryDirectory?.path ?? "/tmp",
            "V": base.temporaryDirectory?.path ?? "/var/tmp",
        ])
    }

    private static func specifiers(_ paths: [Unicode.Scalar: FilePath?]) -> [UInt8: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: paths.compactMap { letter, path in
                path.map { (UInt8(ascii: letter), $0.bytes) }
            })
    }

    /// Reads the `*.conf` files.
    ///
    /// - Parameter unreadable: called for each file or directory that exists but cannot be read.
    func keptPaths(unreadable: (FileError) -> Void) -> KeptPaths {
        var lines: [TemporaryFilesLine] = []
        for (path, isOfUser) in files(unreadable) {
            do throws(FileError) {
                lines += TemporaryFilesLine.lines(
                    in: try contentsOfFile(path, limit: settingsLimit),
                    isOfUser ? user : system)
            } catch {
                if error.code != .noSuchFile { unreadable(error) }
            }
        }
        return KeptPaths(lines)
    }

    /// Returns the files that count, in order of their names.
    private func files(
        _ unreadable: (FileError) -> Void
    ) -> [(path: FilePath, isOfUser: Bool)] {
        var files: [(name: [UInt8], path: FilePath, isOfUser: Bool)] = []
        var names: [Bool: Set<[UInt8]>] = [:]
        // A filesystem that may never answer is not asked.
        for directory in directories where environment.localStatus(of: directory) != nil {
            let isOfUser = directory.lastComponent == "user-tmpfiles.d"
            for name in Self.names(in: directory, unreadable)
            where names[isOfUser, default: []].insert(name).inserted {
                let path = directory.appending(FilePath(bytes: name).components)
                // A link to /dev/null masks the files of the same name.
                let kind = environment.localStatus(of: path)?.kind
                if kind != nil, kind != .characterDevice {
                    files.append((name, path, isOfUser))
                }
            }
        }
        return files.sorted { $0.name.lexicographicallyPrecedes($1.name) }
            .map { ($0.path, $0.isOfUser) }
    }

    private static func names(
        in directory: FilePath, _ unreadable: (FileError) -> Void
    ) -> [[UInt8]] {
        var names: [[UInt8]] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if name.suffix(5).elementsEqual(".conf".utf8) { names.append(Array(name)) }
                return true
            }
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            unreadable(.readingDirectory(error, directory))
        }
        return names
    }
}

/// A tmpfiles.d(5) line, as far as it says what is kept.
struct TemporaryFilesLine: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        /// A pattern for one name.
        case name(NamePattern)
        /// Any number of names, at the start of a path that differs between systems.
        case anything

        func matches(_ name: String) -> Bool {
            guard case .name(let pattern) = self else { return false }
            return pattern.matches(Array(name.utf8))
        }
    }

    /// A directory for temporary files of all programs.
    enum Directory: Sendable, Hashable {
        case tmp, varTmp
    }

    /// The parts from `/` down; never empty, and the last one is a name.
    let parts: [Part]
    /// The line's age in seconds; nil for never.
    let age: Int64?
    let keeps: KeptPaths.Match
    /// The directory whose content the line is about; nil for a line that keeps something.
    let directory: Directory?

    /// Parses a line; nil for an invalid one, and for one that keeps nothing here.
    ///
    /// Lines of the types `x` and `X` count wherever their path is, others below `/tmp` and `/var/tmp`
    /// only: systemd does not clean a path that has a line of its own with what it lies in, and its
    /// content only by that line's age.
    ///
    /// - Parameter specifiers: what specifiers stand for, by their letters. Others match anything, so
    ///   that more is kept than necessary.
    init?(line: some Collection<UInt8>, _ specifiers: [UInt8: [UInt8]] = [:]) {
        var reader = WordReader(line)
        guard let type = reader.next()?.first, let word = reader.next() else { return nil }
        guard "fwdDevqQpLcbCxXrRzZtThHaA".utf8.contains(type),
            let parts = Self.parts(
                of: replacingSpecifiers(in: word[...]) { letter in
                    specifiers[letter] ?? [UInt8(ascii: "%"), letter]
                }), case .name? = parts.last
        else { return nil }
        self.parts = parts
        // The mode, the user and the group.
        for _ in 0..<3 { _ = reader.next() }
        age = reader.next().flatMap { Self.age(in: $0) }
        switch type {
        case UInt8(ascii: "x"): keeps = .whole
        case UInt8(ascii: "X"): keeps = .itself
        default: keeps = age.map { .aged($0) } ?? .whole
        }
        let isExcluding = type == UInt8(ascii: "x") || type == UInt8(ascii: "X")
        let (isInTmp, isInVarTmp) = (
            parts[0].matches("tmp"),
            parts.count > 1 && parts[0].matches("var") && parts[1].matches("tmp")
        )
        if !isExcluding, isInTmp, parts.count == 1 {
            directory = .tmp
        } else if !isExcluding, isInVarTmp, parts.count == 2 {
            directory = .varTmp
        } else {
            directory = nil
        }
        guard isExcluding || isInTmp || isInVarTmp else { return nil }
        // Only lines for directories have an age that systemd heeds.
        guard directory == nil || "dDevqQ".utf8.contains(type) else { return nil }
    }

    private static func parts(of path: [UInt8]) -> [Part]? {
        var parts: [Part] = []
        for (index, name) in path.split(separator: UInt8(ascii: "/")).enumerated() {
            if index == 0, path.first != UInt8(ascii: "/") {
                // Only a specifier such as `%h` can expand to an absolute path.
                guard name.first == UInt8(ascii: "%") else { return nil }
                parts.append(.anything)
                if name.count <= 2 { continue }
            }
            // A specifier whose meaning is not known matches anything; `%%` is a percent sign.
            let pattern = replacingSpecifiers(in: name) { letter in
                [letter == UInt8(ascii: "%") ? letter : UInt8(ascii: "*")]
            }
            parts.append(.name(NamePattern(pattern)))
        }
        return parts
    }

    static func lines(
        in contents: [UInt8], _ specifiers: [UInt8: [UInt8]] = [:]
    ) -> [TemporaryFilesLine] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap {
            TemporaryFilesLine(line: $0, specifiers)
        }
    }

    /// Parses an age such as `10d`, `1h30min`, `~1w` or `bm:5d`; nil for `-` and for what is not valid,
    /// so that more is kept.
    private static func age(in word: [UInt8]) -> Int64? {
        var rest =
            word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last ?? []
        if rest.first == UInt8(ascii: "~") { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        var age: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let letters = rest.dropFirst(digits.count).prefix {
                !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            guard let number = Int64(String(decoding: digits, as: UTF8.self)),
                let unit = seconds[String(decoding: letters, as: UTF8.self)]
            else { return nil }
            age.addSaturating(number.multipliedSaturating(by: unit))
            rest = rest.dropFirst(digits.count + letters.count)
        }
        return age
    }

    /// The seconds of each unit of time.
    private static let seconds: [String: Int64] = {
        let units: [(Int64, [String])] = [
            (0, ["us", "usec", "ms", "msec"]), (1, ["", "s", "sec", "second", "seconds"]),
            (60, ["m", "min", "minute", "minutes"]), (3600, ["h", "hr", "hour", "hours"]),
            (86400, ["d", "day", "days"]), (604_800, ["w", "week", "weeks"]),
            (2_629_800, ["M", "month", "months"]), (31_557_600, ["y", "year", "years"]),
        ]
        return Dictionary(
            uniqueKeysWithValues: units.flatMap { unit, names in names.map { ($0, unit) } })
    }()
}

/// Replaces each specifier in a text by what it stands for: `%` and a letter.
private func replacingSpecifiers(
    in text: ArraySlice<UInt8>, _ meaning: (UInt8) -> [UInt8]
) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%"), let letter = rest.popFirst() else {
            result.append(byte)
            continue
        }
        result += meaning(letter)
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
