import StoragePolicy
import SystemCalls
import SystemPackage

/// A rule for directories that a tool deletes and makes again.
///
/// The file `rules.tsv` describes the format of its lines.
package struct RecreationRule: Sendable, Hashable {
    /// The directory: a name, or a path below a home.
    let names: [[UInt8]]
    /// The pattern for the name; nil if it has no wildcards.
    let pattern: NamePattern?
    /// Whether ``names`` is a path below a home.
    let isBelowHome: Bool
    /// What must be true, all of it.
    let proof: [ProofTerm]
    /// The names of the directories, anywhere in it, into which the tool clones repositories.
    let clonesInto: Set<[UInt8]>
    /// Whether only the tool puts files there.
    let isWhole: Bool
    /// What makes the directory again, as a command where there is one.
    let tool: String
    /// Why nothing is lost with the directory.
    let reason: String

    /// The last name of the directory.
    var name: [UInt8] { names.last ?? [] }
}

struct ProofTerm: Sendable, Hashable {
    /// Where the condition looks.
    enum Kind: String, Sendable, CaseIterable {
        case beside, `in`, only, tagged
    }

    /// A name, a pattern for names, or a path in the directory.
    struct Name: Sendable, Hashable {
        let text: String
        /// The names of the path that the text is; one for a name.
        let path: [[UInt8]]
        /// The pattern; nil for a name or a path.
        let pattern: NamePattern?
    }

    let kind: Kind
    let isNegated: Bool
    let names: [Name]
}

/// A path below which rules for a name do not apply.
struct InstalledPath: Sendable, Hashable {
    private enum Start { case root, home, anywhere }

    private let start: Start
    private let names: [NamePattern]

    /// Whether a directory is below such a path.
    ///
    /// - Parameters:
    ///   - names: the names of the directory's real path.
    ///   - homes: the names of the homes.
    func holds(_ names: [[UInt8]], homes: [[[UInt8]]]) -> Bool {
        let above = names.dropLast()
        switch start {
        case .root: return matches(above[...])
        case .home:
            return homes.contains {
                above.starts(with: $0) && matches(above.dropFirst($0.count))
            }
        case .anywhere:
            return above.indices.contains { matches(above[$0...]) }
        }
    }

    private func matches(_ names: ArraySlice<[UInt8]>) -> Bool {
        names.count >= self.names.count && zip(self.names, names).allSatisfy { $0.matches($1) }
    }
}

enum RuleLine: Sendable, Hashable {
    case rule(RecreationRule)
    case installed(InstalledPath)
    /// The names of files that no tool makes again, or of such that one does nevertheless.
    case precious(NamePattern, isNegated: Bool)

    /// Parses the lines of a list. Comments, which begin with `#`, and empty lines are skipped.
    ///
    /// - Throws: ``FileError`` with the number of the first line that is not valid.
    static func lines(of list: [UInt8], at path: FilePath?) throws(FileError) -> [RuleLine] {
        var lines: [RuleLine] = []
        let texts = list.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, text) in texts.enumerated()
        where !text.isEmpty && text.first != UInt8(ascii: "#") {
            do throws(Fault) {
                // Several names, with commas between them, are as many lines.
                let end = text.firstIndex(of: UInt8(ascii: "\t")) ?? text.endIndex
                let names = text[..<end].split(
                    separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                guard names.count <= 100 else { throw Fault("has more than 100 names") }
                for name in names { lines.append(try RuleLine((name + text[end...])[...])) }
            } catch {
                throw FileError(
                    code: .other, message: "line \(index + 1): \(error.message)",
                    advice: "a line is: directory, proof, what makes it again, reason, with tabs "
                        + "between", path: path)
            }
        }
        return lines
    }

    fileprivate struct Fault: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }

    fileprivate init(_ line: ArraySlice<UInt8>) throws(Fault) {
        // Names and reasons are shown on terminals.
        guard let text = String(validating: line, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0 == "\t" || TextSafety.isSafe($0) })
        else { throw Fault("is not text") }
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count == 4, fields.allSatisfy({ !$0.isEmpty }) else {
            throw Fault("has not four fields")
        }
        if fields[1].elementsEqual("never".utf8) {
            self = .installed(try InstalledPath(fields[0]))
            return
        }
        let isNegated = fields[1].first == UInt8(ascii: "!")
        if fields[1].dropFirst(isNegated ? 1 : 0).elementsEqual("precious".utf8) {
            let patterns = try Self.patterns(fields[0])
            guard patterns.count == 1 else { throw Fault("the file is not a name") }
            self = .precious(patterns[0], isNegated: isNegated)
            return
        }
        let isBelowHome = fields[0].starts(with: "~/".utf8)
        let names = try Self.names(isBelowHome ? fields[0].dropFirst(2) : fields[0])
        guard isBelowHome || names.count == 1 else {
            throw Fault("the directory is neither a name nor a path that begins with ~/")
        }
        let isLiteral = names.allSatisfy { NamePattern.isLiteral($0) }
        guard isLiteral || !isBelowHome else { throw Fault("a path has a wildcard") }
        let words = fields[1].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        var (proof, clonesInto, isWhole): ([ProofTerm], Set<[UInt8]>, Bool) = ([], [], false)
        for word in words {
            if word.elementsEqual("whole".utf8) {
                isWhole = true
            } else if word.starts(with: "clones:".utf8) {
                for name in word.dropFirst("clones:".utf8.count).split(
                    separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                {
                    let names = try Self.names(name)
                    guard names.count == 1 else {
                        throw Fault("'\(String(decoding: name, as: UTF8.self))' is not a name")
                    }
                    clonesInto.insert(names[0])
                }
            } else {
                proof.append(try Self.term(word))
            }
        }
        guard proof.contains(where: { !$0.isNegated }) else {
            throw Fault("the proof shows nothing about the directory")
        }
        self = .rule(
            RecreationRule(
                names: names,
                pattern: isLiteral ? nil : NamePattern(names[0], matchesBytes: true),
                isBelowHome: isBelowHome, proof: proof, clonesInto: clonesInto,
                isWhole: isWhole,
                tool: String(decoding: fields[2], as: UTF8.self),
                reason: String(decoding: fields[3], as: UTF8.self)))
    }

    private static func term(_ word: ArraySlice<UInt8>) throws(Fault) -> ProofTerm {
        let isNegated = word.first == UInt8(ascii: "!")
        let parts = word.dropFirst(isNegated ? 1 : 0).split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = ProofTerm.Kind(rawValue: String(decoding: parts[0], as: UTF8.self)),
            parts.count == (kind == .tagged ? 1 : 2)
        else { throw Fault("'\(String(decoding: word, as: UTF8.self))' is not a proof") }
        var names: [ProofTerm.Name] = []
        if kind != .tagged {
            let texts = parts[1].split(
                separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            for text in texts {
                names.append(try name(text, of: kind))
            }
        }
        return ProofTerm(kind: kind, isNegated: isNegated, names: names)
    }

    private static func name(
        _ bytes: ArraySlice<UInt8>, of kind: ProofTerm.Kind
    ) throws(Fault) -> ProofTerm.Name {
        let (path, isLiteral) = (try names(bytes), NamePattern.isLiteral(bytes))
        let text = String(decoding: bytes, as: UTF8.self)
        guard path.count == 1 || kind == .in && isLiteral else {
            throw Fault("'\(text)' is not a name")
        }
        return ProofTerm.Name(
            text: text, path: path, pattern: isLiteral ? nil : NamePattern(bytes))
    }

    /// Splits a path into names, none of which leads up or to the directory itself.
    private static func names(_ path: ArraySlice<UInt8>) throws(Fault) -> [[UInt8]] {
        guard let names = RelativePath(path)?.names else {
            throw Fault("'\(String(decoding: path, as: UTF8.self))' is not a path that leads down")
        }
        return names
    }

    fileprivate static func patterns(_ path: ArraySlice<UInt8>) throws(Fault) -> [NamePattern] {
        try names(path).map { NamePattern($0) }
    }
}

extension InstalledPath {
    fileprivate init(_ path: ArraySlice<UInt8>) throws(RuleLine.Fault) {
        let isBelowHome = path.starts(with: "~/".utf8)
        start = path.first == UInt8(ascii: "/") ? .root : isBelowHome ? .home : .anywhere
        let prefix = start == .root ? 1 : start == .home ? 2 : 0
        names = try RuleLine.patterns(path.dropFirst(prefix))
    }
}

/// The rules for what tools re-create: those of this package and the user's own.
package struct RecreationRules: Sendable {
    private var rules: [[UInt8]: [RecreationRule]] = [:]
    /// Those for names with wildcards.
    private var patternRules: [RecreationRule] = []
    private var installed: [InstalledPath] = []
    /// The names of files that no tool makes again, and of such that one does.
    private var precious: [(name: NamePattern, isNegated: Bool)] = []
    let homes: [FilePath]
    /// The names of the homes' paths.
    private let homeNames: [[[UInt8]]]

    /// - Parameters:
    ///   - own: the user's own rules, and the path of their file.
    ///   - homes: the homes, as real paths.
    /// - Throws: ``FileError`` with the number of the first line that is not valid.
    package init(
        own: (list: [UInt8], path: FilePath)? = nil, homes: [FilePath]
    ) throws(FileError) {
        self.homes = homes
        homeNames = homes.map { $0.names.map { Array($0) } }
        var lines = try RuleLine.lines(of: PackageResources.rules_tsv, at: nil)
        if let own { lines += try RuleLine.lines(of: own.list, at: own.path) }
        for line in lines {
            switch line {
            case .rule(let rule) where rule.pattern != nil: patternRules.append(rule)
            case .rule(let rule): rules[rule.name, default: []].append(rule)
            case .installed(let path): installed.append(path)
            case .precious(let name, let isNegated): precious.append((name, isNegated))
            }
        }
    }

    /// Reads the user's own rules from `$XDG_CONFIG_HOME/resval/rules.tsv`.
    ///
    /// A file of another user, or one that others can write to, is not read: root may run with
    /// the environment of another user.
    ///
    /// - Throws: ``FileError``: `permissionDenied` for such a file, the number of a line that is not
    ///   valid, or why the file cannot be read.
    package static func current() throws(FileError) -> RecreationRules {
        // Without the file there are no other homes to know of.
        let accounts = PasswordDatabase(contents: (try? contentsOfFile("/etc/passwd")) ?? [])
        let base = currentBaseDirectories()
        // The homes themselves are not looked at: they may be on servers that do not answer.
        var parents: [FilePath: FilePath] = [:]
        var homes = accounts.accounts.map { account in
            let parent = account.home.removingLastComponent()
            let real = parents[parent] ?? (try? realPath(of: parent)) ?? parent
            parents[parent] = real
            return account.home.lastComponent.map { real.appending($0) } ?? account.home
        }
        if let home = base.home { homes.append((try? realPath(of: home)) ?? home) }
        guard let path = base.configurationHome?.path.appending("resval/rules.tsv"),
            let list = try ownRules(at: path)
        else { return try RecreationRules(homes: homes) }
        return try RecreationRules(own: (list, path), homes: homes)
    }

    private static func ownRules(at path: FilePath) throws(FileError) -> [UInt8]? {
        let file: SharedDescriptor
        let status: FileStatus
        do throws(FileError) {
            file = try openTrustedFile(path)
            status = try file.descriptor.named(path).fileStatus()
        } catch  where error.code == .noSuchFile || error.code == .notADirectory {
            return nil
        }
        guard status.owner == effectiveUser(), !status.isWritableByOthers else {
            throw FileError(
                code: .permissionDenied,
                message: "belongs to another user or can be written by others, so its rules are "
                    + "not trusted",
                advice: "chown or chmod go-w it, or set XDG_CONFIG_HOME", path: path)
        }
        return try calls(on: path, FileError.opening) { () throws(Errno) in
            try contents(ofOpen: file.descriptor, status, limit: settingsLimit)
        }
    }

    func mayFit(_ name: [UInt8]) -> Bool { !rules(for: name).isEmpty }

    private func rules(for name: [UInt8]) -> [RecreationRule] {
        rules[name, default: []] + patternRules.filter { $0.pattern?.matches(name) ?? false }
    }

    func isPrecious(_ name: [UInt8]) -> Bool {
        precious.last { $0.name.matches(name) }.map { !$0.isNegated } ?? false
    }

    func holdsHome(_ names: [[UInt8]]) -> Bool { homeNames.contains { $0.starts(with: names) } }

    /// Returns the rule that a directory proves, with its reason in words; nil when it proves none.
    ///
    /// - Parameters:
    ///   - names: the names of the directory's real path.
    ///   - directory: the directory, open as a reference.
    /// - Throws: the errno of looking for a proof, when no other rule is proved.
    func recreation(
        of names: [[UInt8]], _ directory: OpenDirectory
    ) throws(Errno) -> (recreation: Recreation, rule: RecreationRule)? {
        guard let name = names.last, !holdsHome(names) else { return nil }
        let isInstalled = installed.contains { $0.holds(names, homes: homeNames) }
        var failure: Errno?
        for rule in rules(for: name)
        where rule.isBelowHome ? isPlace(names, of: rule) : !isInstalled {
            do throws(Errno) {
                if let text = try rule.proved(by: directory, named: name) {
                    return (Recreation(proof: text, tool: rule.tool, reason: rule.reason), rule)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return nil
    }

    private func isPlace(_ names: [[UInt8]], of rule: RecreationRule) -> Bool {
        homeNames.contains { $0 + rule.names == names }
    }
}

extension RecreationRule {
    /// Returns the name and its proof in words; nil when a condition is not true.
    fileprivate func proved(
        by directory: OpenDirectory, named name: [UInt8]
    ) throws(Errno) -> String? {
        var words: [String] = []
        for term in proof {
            let word = try term.proof(in: directory)
            guard (word == nil) == term.isNegated else { return nil }
            // What is not there, and what only confirms another proof, is not named.
            if let word, term.kind != .only || words.isEmpty { words.append(word) }
        }
        let shown = (names.dropLast() + [name]).map { NameEscaping.text($0) }
            .joined(separator: "/")
        return (isBelowHome ? "~/" : "") + "\(shown) \(words.joined(separator: " and "))"
    }
}

extension ProofTerm {
    /// Returns what was found, in words; nil when nothing was.
    fileprivate func proof(in directory: OpenDirectory) throws(Errno) -> String? {
        switch kind {
        case .tagged:
            return try TagFile.cacheDirectory.isValid(in: directory) == true
                ? "with a CACHEDIR.TAG in it" : nil
        case .beside:
            return try found(in: directory.location(of: ".."), of: directory)
                .map { "beside \($0)" }
        case .in:
            return try found(in: directory.location(of: "."), of: directory)
                .map { "with \($0) in it" }
        case .only:
            var (isEmpty, isOnly) = (true, true)
            try forEachEntry(in: directory) { name, _ in
                isEmpty = false
                isOnly = names.contains { $0.matches(name) }
                return isOnly
            }
            let texts = names.prefix(2).map(\.text).joined(separator: ", ")
            return isOnly && !isEmpty ? "with nothing but \(texts) in it" : nil
        }
    }

    /// Returns the first name that exists in a place as a file or a directory of the owner of the
    /// directory in question, or of root; nil when none does. What others put there proves nothing.
    private func found(
        in place: DirectoryEntryLocation, of subject: OpenDirectory
    ) throws(Errno) -> String? {
        let owner = try subject.status().owner
        let directory = OpenDirectory(try openFile(place, flags: [.reference, .directory]))
        func isProof(_ name: [UInt8], in parent: OpenDirectory) throws(Errno) -> Bool {
            guard let status = try parent.statusIfPresent(of: FilePath(bytes: name)) else {
                return false
            }
            return [.regularFile, .directory].contains(status.kind)
                && (status.owner == owner || status.owner == 0)
        }
        for name in names where name.pattern == nil {
            guard let last = name.path.last else { continue }
            let parent = try ifPresent { () throws(Errno) in
                try directory.openDirectory(along: name.path.dropLast())
            }
            if let parent, try isProof(last, in: parent) { return name.text }
        }
        guard names.contains(where: { $0.pattern != nil }) else { return nil }
        var matches: [(name: [UInt8], text: String)] = []
        try forEachEntry(in: place) { name, _ in
            let match = names.first { $0.pattern?.matches(name) ?? false }
            if let match { matches.append((Array(name), match.text)) }
            return true
        }
        for match in matches where try isProof(match.name, in: directory) { return match.text }
        return nil
    }
}

extension ProofTerm.Name {
    fileprivate func matches(_ name: [UInt8]) -> Bool {
        pattern?.matches(name) ?? (path == [name])
    }
}
