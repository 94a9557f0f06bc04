import StoragePolicy
import SystemCalls
import SystemPackage

/// The rules for what tools re-create: those of this package and the user's own.
package struct RecreationRules: Sendable {
    private let rules: [[UInt8]: [RecreationRule]]
    private let installed: [InstalledPath]
    /// The names of the homes' paths.
    private let homes: [[[UInt8]]]

    /// Creates rules from lists.
    ///
    /// - Parameters:
    ///   - own: the user's own rules, and the path of their file.
    ///   - homes: the homes, as real paths.
    /// - Throws: ``FileError`` with the number of the first line that is not valid.
    package init(
        own: (list: [UInt8], path: FilePath)? = nil, homes: [FilePath]
    ) throws(FileError) {
        var lines = try RuleLine.lines(of: PackageResources.rules_tsv, at: nil)
        if let own { lines += try RuleLine.lines(of: own.list, at: own.path) }
        var rules: [[UInt8]: [RecreationRule]] = [:]
        var installed: [InstalledPath] = []
        for line in lines {
            switch line {
            case .rule(let rule): rules[rule.name, default: []].append(rule)
            case .installed(let path): installed.append(path)
            }
        }
        self.rules = rules
        self.installed = installed
        self.homes = homes.map { $0.names.map { Array($0) } }
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
        var homes = accounts.accounts.map(\.home)
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
        } catch {
            guard error.code == .noSuchFile || error.code == .notADirectory else { throw error }
            return nil
        }
        guard status.owner == effectiveUser(), !status.isWritableByOthers else {
            throw FileError(
                code: .permissionDenied,
                message: "belongs to another user or can be written by others, so its rules are "
                    + "not trusted",
                advice: "chown or chmod go-w it, or set XDG_CONFIG_HOME", path: path)
        }
        do throws(Errno) {
            return try contents(ofOpen: file.descriptor, status, limit: settingsLimit)
        } catch {
            throw .opening(error, path)
        }
    }

    /// The last names of all directories for which there is a rule.
    var names: Set<[UInt8]> { Set(rules.keys) }

    /// Whether there is a rule for a directory of a name.
    func mayFit(_ name: [UInt8]) -> Bool { rules[name] != nil }

    /// Whether a directory is a home, or above one.
    func holdsHome(_ names: [[UInt8]]) -> Bool { homes.contains { $0.starts(with: names) } }

    /// Returns the rule that a directory proves, and whether its tool clones repositories into the
    /// directory; nil when it proves none.
    ///
    /// - Parameters:
    ///   - names: the names of the directory's real path.
    ///   - directory: the directory, open as a reference.
    /// - Throws: the errno of looking for a proof, when no other rule is proved.
    func recreation(
        of names: [[UInt8]], _ directory: OpenDirectory
    ) throws(Errno) -> (recreation: Recreation, clones: Bool)? {
        guard let name = names.last, let rules = rules[name], !holdsHome(names) else { return nil }
        let isInstalled = installed.contains { $0.holds(names, homes: homes) }
        var failure: Errno?
        for rule in rules where rule.isBelowHome ? isPlace(names, of: rule) : !isInstalled {
            do throws(Errno) {
                if let text = try rule.proved(by: directory) {
                    return (
                        Recreation(proof: text, tool: rule.tool, reason: rule.reason), rule.clones
                    )
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return nil
    }

    private func isPlace(_ names: [[UInt8]], of rule: RecreationRule) -> Bool {
        homes.contains { $0 + rule.names == names }
    }
}

extension RecreationRule {
    /// Returns the name and its proof in words; nil when a condition is not true.
    ///
    /// - Throws: the errno of looking for a proof.
    fileprivate func proved(by directory: OpenDirectory) throws(Errno) -> String? {
        var words: [String] = []
        for term in proof {
            let word = try term.proof(in: directory)
            guard (word == nil) == term.isNegated else { return nil }
            // What is not there, and what only confirms another proof, is not named.
            if let word, term.kind != .only || words.isEmpty { words.append(word) }
        }
        let shown = names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        return (isBelowHome ? "~/" : "") + "\(shown) \(words.joined(separator: " and "))"
    }
}

extension ProofTerm {
    /// Returns what was found, in words; nil when nothing was.
    fileprivate func proof(in directory: OpenDirectory) throws(Errno) -> String? {
        switch kind {
        case .tagged:
            return try TagFile.cacheDirectory.isPresent(in: directory)
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
            do throws(Errno) {
                let status = try parent.status(of: FilePath(bytes: name))
                return [.regularFile, .directory].contains(status.kind)
                    && (status.owner == owner || status.owner == 0)
            } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
                return false
            }
        }
        for name in names where name.pattern == nil {
            guard let last = name.path.last else { continue }
            do throws(Errno) {
                let parent = try directory.openDirectory(along: name.path.dropLast())
                if try isProof(last, in: parent) { return name.text }
            } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
                continue
            }
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
