import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

extension AuditItem {
    var markFindings: [Finding] {
        malformedMarks + meaninglessMarkers
            + [conflict, uselessExclusion, uselessPurgeability].compactMap(\.self)
    }

    private var malformedMarks: [Finding] {
        decision.issues.compactMap { issue in
            guard case .malformed(let mark) = issue, !mark.isUnreadable else { return nil }
            let key = mark.keyName
            let acts = key == StoredKey.fileProtection.name ? "complete" : "false"
            return Finding(
                .malformed, self, "\(key) acts as \(acts): \(mark)",
                command: "resval set \(key)=\(acts) \(path.shellWord)")
        }
    }

    private var conflict: Finding? {
        for case .conflict(let excluding, let including) in decision.issues {
            // A native mark decides, whatever other programs' marks say.
            if excluding.union(including).contains(.native) { return nil }
            return Finding(
                .conflict, self,
                PolicyIssue.conflict(excluding: excluding, including: including).sentence,
                command: "resval set isExcludedFromBackup=false \(path.shellWord)")
        }
        return nil
    }

    private var meaninglessMarkers: [Finding] {
        decision.issues.filter(\.isMeaninglessMark).map {
            Finding(.meaningless, self, $0.sentence, command: nil)
        }
    }

    private var uselessExclusion: Finding? {
        let unset = "resval unset isExcludedFromBackup \(path.shellWord)"
        let (cause, ancestor) = (decision.exclusion.cause, decision.exclusion.ancestor)
        switch (marks.isExcludedFromBackup, cause, ancestor) {
        case (true, .hardLinked, _):
            return Finding(
                .useless, self,
                "\(decision.exclusion.sentence); only a mark on its directory excludes it",
                command: unset)
        case (true, .marked, let ancestor?):
            return Finding(
                .useless, self, "excluded, as is already a directory above it", at: ancestor,
                command: unset)
        case (false, _, let ancestor?):
            return Finding(
                .useless, self,
                "its mark includes it, and does not count below an excluded directory",
                at: ancestor, command: inclusionCommand(cause, at: ancestor))
        default:
            return nil
        }
    }

    private var uselessPurgeability: Finding? {
        guard marks.isPurgeable == true,
            let ancestor = decision.purgeability.ancestor
        else { return nil }
        let unset = "resval unset isPurgeable \(path.shellWord)"
        if decision.isPurgeable {
            return Finding(
                .useless, self, "purgeable, as is already a directory above it, which goes whole",
                at: ancestor, command: unset)
        }
        return Finding(
            .unreachable, self, "purgeable, but a directory above it is pinned", at: ancestor,
            command: unset)
    }
}

extension PolicyIssue {
    /// Whether a mark of another program has a value or a content that means nothing.
    var isMeaninglessMark: Bool {
        guard case .uncertainMarker(let marker, _) = self else { return false }
        return marker == .xdg || marker == .cachedir
    }
}

/// Returns the command by which backups include an item again.
///
/// - Parameter exclusion: the item's own reason.
func inclusionCommand(_ exclusion: ExclusionCause, at path: FilePath) -> String {
    // A native mark overrules all others, also those that only some options count.
    exclusion == .marked
        ? "resval include \(path.shellWord)"
        : "resval set isExcludedFromBackup=false \(path.shellWord)"
}

extension Audit {
    /// Finds a mark whose loss does harm on a file that programs replace when they save it, as git and
    /// many editors do, unless its directory has the same. Of the directory of a ROOT that is not known.
    func fragile(_ item: AuditItem) -> Finding? {
        guard item.status.kind == .regularFile, item.status.linkCount == 1,
            let directory = item.directory
        else { return nil }
        var changes: [String] = []
        if let wanted = item.marks.fileProtection, wanted != .none,
            directory.protectionClass != wanted
        {
            changes.append("fileProtection=\(wanted.rawValue)")
        }
        if item.marks.isPurgeable == false, !directory.purgeability.cause.isProtected {
            changes.append("isPurgeable=false")
        }
        guard !changes.isEmpty else { return nil }
        do throws(Errno) {
            guard let sign = try replacement(of: item) else { return nil }
            let marks = changes.joined(separator: ",")
            return Finding(
                .fragile, item, "\(sign): then \(marks) is lost, unless its directory has it",
                command: "resval set \(marks) \(item.path.removingLastComponent().shellWord)")
        } catch {
            report(.opening(error, item.path))
            return nil
        }
    }

    /// Finds a mark on the former version of a file, which an editor renamed before it wrote the file
    /// anew, without the mark.
    func leftBehind(_ item: AuditItem) -> Finding? {
        guard item.status.kind == .regularFile, !item.marks.isEmpty,
            let name = item.path.lastComponent?.bytes
        else { return nil }
        do throws(FileError) {
            for (prefix, suffix) in [("", "~"), ("", ".bak"), ("", ".orig"), ("#", "#")]
            where name.starts(with: prefix.utf8)
                && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            {
                let own = name.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
                guard let file = RelativePath(own)?.path else { continue }
                let path = item.path.removingLastComponent().pushing(file)
                let location = path.withoutFollowing
                guard let status = try location.statusIfPresent(), status.kind == .regularFile,
                    status.owner == item.status.owner, try location.marks().isEmpty
                else { continue }
                return Finding(
                    .leftBehind, item,
                    "its marks did not stay with \(NameEscaping.text(Array(own))), which was saved anew",
                    command: "resval copy \(item.path.shellWord) \(path.shellWord)")
            }
            return nil
        } catch {
            report(error)
            return nil
        }
    }

    /// Returns what shows that a file is replaced when it is saved; nil if nothing does.
    private func replacement(of item: AuditItem) throws(Errno) -> String? {
        guard let name = item.path.lastComponent?.bytes else { return nil }
        let parent = try item.openParent()
        for (prefix, suffix) in [("", "~"), (".", ".swp"), ("#", "#"), (".#", "")] {
            let sibling = FilePath(bytes: Array(prefix.utf8) + name + Array(suffix.utf8))
            do throws(Errno) {
                _ = try parent.status(of: sibling)
                return "an editor replaces it, as \(prefix)NAME\(suffix) beside it shows"
            } catch .noSuchFileOrDirectory, .fileNameTooLong {
                continue
            }
        }
        guard try trees?.tracking(of: item.path, in: parent) == .tracked else { return nil }
        return "git tracks it, and replaces it when it updates the work tree"
    }
}

extension Audit {
    /// Finds an excluded directory that is, contains, or lies in one for documents. In such a
    /// directory, caches, what tools re-create and what git ignores may be excluded.
    func excludedDocuments(_ item: AuditItem) -> Finding? {
        guard item.status.kind == .directory, let exclusion = item.ownExclusion,
            let marker = exclusion.cause.marker, marker != .rules
        else { return nil }
        let documents = environment.locations.locations.filter { $0.kind == .documents }
        let covered = documents.first {
            $0.path.isHeld(by: item.path) && environment.localStatus(of: $0.path) != nil
        }
        let command = inclusionCommand(
            exclusion.cause, at: exclusion.ancestor ?? item.path)
        if let covered {
            return Finding(
                .excludedDocuments, item, "\(exclusion.sentence), and with it documents",
                at: covered.path, command: command)
        }
        guard marker != .cachedir, marker != .gitignore, item.recreation == nil,
            let location = environment.locations.location(holding: item.path),
            location.kind == .documents
        else { return nil }
        return Finding(
            .excludedDocuments, item,
            "\(exclusion.sentence), and it is in a directory for documents", at: location.path,
            command: command)
    }

    /// Finds an excluded item that git tracks, or of which it tracks a part.
    func excludedTracked(_ item: AuditItem) -> Finding? {
        guard let exclusion = item.ownExclusion, exclusion.ancestor == nil,
            let marker = exclusion.cause.marker, marker != .rules, marker != .gitignore
        else { return nil }
        do throws(Errno) {
            switch try trees?.tracking(of: item.path, in: item.openParent()) {
            case nil, .untracked: return nil
            case .unknown(let reason):
                Messages.warn(about: item.path.bytes, "is excluded from backups, and \(reason)")
                return nil
            case .tracked:
                let what = item.status.kind == .directory ? "files in it" : "it"
                return Finding(
                    .excludedTracked, item, "\(exclusion.sentence), and git tracks \(what)",
                    command: inclusionCommand(exclusion.cause, at: item.path))
            }
        } catch {
            report(.opening(error, item.path))
            return nil
        }
    }

    /// Finds directories that `cp -a` made of another excluded one, with its mark, and in which files
    /// were modified since.
    ///
    /// A copy keeps the times of what is in it, to the nanosecond, so that this is older than the copy. In
    /// a project that was copied with its excluded directories these keep their names, too, and are excluded
    /// as before.
    func copiedMarks(_ items: [AuditItem]) -> [Finding] {
        let marked: [(item: AuditItem, made: FileTime)] = items.compactMap { item in
            let exclusion = item.decision.exclusion
            guard item.status.kind == .directory, item.recreation == nil, exclusion.ancestor == nil,
                [.native, .apple, .xdg].contains(exclusion.cause.marker)
            else { return nil }
            return item.status.creationTime.map { (item, $0) }
        }.sorted { $0.made < $1.made }
        var templates: [CopiedEntry: FilePath] = [:]
        return marked.compactMap { item, made in
            // What cannot be read was reported by the walk.
            let entries = (try? item.copiedEntries()) ?? []
            let template = entries.first { $0.modified < made && templates[$0] != nil }
                .flatMap { templates[$0] }
            for entry in entries where templates[entry] == nil { templates[entry] = item.path }
            guard let template, template.lastComponent != item.path.lastComponent,
                let tree = item.tree, tree.lastModified > made.seconds,
                excludedDocuments(item) == nil
            else { return nil }
            return Finding(
                .copiedMark, item,
                "its mark came with the copy of another directory, and files in it were modified since",
                at: template,
                command: inclusionCommand(item.decision.exclusion.cause, at: item.path))
        }
    }

    /// Finds an evicted file of which it is not known where its content is, as far as that can be
    /// known without opening a repository.
    func lostContent(_ item: AuditItem) -> Finding? {
        guard let sign = item.sign else { return nil }
        let command = "resval-backup evict --list \(item.path.shellWord)"
        guard let record = sign.record else {
            return Finding(
                .lostContent, item, "it looks evicted, and has no record of where its content is",
                command: command)
        }
        guard sign.isEvicted else { return nil }
        let place =
            "its content is in snapshot \(record.snapshot.prefix(8)) of repository "
            + "\(record.repository.prefix(8)), "
        do throws(FileError) {
            guard let location = try knownLocation(of: record.repository) else {
                guard !hasConfiguredRepository else { return nil }
                return Finding(
                    .lostContent, item, place + "and where that is is not known here",
                    command: command)
            }
            guard isMissing(location) else { return nil }
            return Finding(
                .lostContent, item, place + "which does not exist", at: location, command: command)
        } catch {
            report(error)
            return nil
        }
    }

    /// Returns where a repository was when files were last evicted into it; nil if unknown.
    private func knownLocation(of repository: String) throws(FileError) -> FilePath? {
        guard let state = environment.base.stateHome else { return nil }
        return try EvictionDirectory(stateHome: state.path).location(of: repository)
            .map { FilePath(bytes: $0) }
    }

    /// Whether a repository is configured, which may be any.
    private var hasConfiguredRepository: Bool {
        let variables = ["RESVAL_BACKUP_REPOSITORY", "RESTIC_REPOSITORY", "RESTIC_REPOSITORY_FILE"]
        if variables.contains(where: { environmentVariable($0)?.isEmpty == false }) { return true }
        guard let settings = environment.base.configurationHome else { return false }
        return environment.localStatus(of: settings.path.appending("resval/backup.toml")) != nil
    }

    /// Whether a repository was in a directory of this machine that does not exist.
    private func isMissing(_ location: FilePath) -> Bool {
        let path = FilePath(bytes: location.bytes.trimmingPrefix("local:".utf8))
        guard path.isAbsolute, !environment.mounts.mayBeSilent(path) else { return false }
        do throws(Errno) {
            _ = try path.status()
            return false
        } catch {
            return error == .noSuchFileOrDirectory
        }
    }
}

/// An entry that is the same in a directory and in its copy.
private struct CopiedEntry: Hashable {
    let name: FilePath
    let modified: FileTime
}

extension AuditItem {
    /// Returns entries of a directory with their times, as far as these are precise enough to tell a copy:
    /// those in archives, for example, are whole seconds.
    fileprivate func copiedEntries() throws(Errno) -> [CopiedEntry] {
        let directory = try openParent().openDirectory(path.lastName)
        var entries: [CopiedEntry] = []
        for name in try directory.names().inByteOrder().prefix(256) {
            guard let status = try? directory.location(of: name).statusAtHand(),
                status.contentModificationTime.nanoseconds != 0
            else { continue }
            entries.append(CopiedEntry(name: name, modified: status.contentModificationTime))
        }
        return entries
    }
}
