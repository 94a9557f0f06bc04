import ResourceValues
import SystemCalls
import SystemPackage

package struct MergeOutcome: Sendable {
    /// Items that are not in the target as they should be.
    fileprivate(set) var failures: [RestoreFailure] = []
    /// The number of items below directories that are among ``failures``.
    fileprivate(set) var itemsBelowFailures = 0
    /// The number of items that something else has the name of, which stays.
    package fileprivate(set) var differingItems = 0
    /// The path of the first of them.
    package fileprivate(set) var firstDiffering: [UInt8] = []
    /// Those of the items asked for that were there, or beside what has their name, with the same content
    /// and permissions.
    package fileprivate(set) var equal: [[UInt8]] = []
    /// The number of items that got a name, each with everything below it.
    fileprivate(set) var placedItems = 0
    /// The items that are beside what has their name, and the names that they have there; what an earlier
    /// restore put there is in ``equal``, too.
    package fileprivate(set) var movedAside: [(path: [UInt8], name: [UInt8])] = []
    /// The replaced files that have other names, which keep the old content.
    package fileprivate(set) var filesWithOtherNames: [[UInt8]] = []
    /// The copies that killed restores left where copies are made, by their paths in the snapshot.
    fileprivate(set) var leftovers: [FilePath] = []
}

/// Moves restored items into a target by descriptors.
///
/// Existing items are replaced by name and never written to, so that symbolic links are not
/// followed and other hard links keep their content. Existing directories receive the contents of
/// the restored ones.
///
/// A killed process leaves each item either at its old or at its new location.
struct TreeMerger {
    private(set) var outcome = MergeOutcome()
    /// The restored files that have a journal in the snapshot, which got their names.
    private var databases: Set<[UInt8]> = []
    /// What got a name here. The filesystem may take the name of another item for the same.
    private var placed: Set<FileIdentity> = []
    /// The directories that were searched for copies that killed restores left.
    private var searched: Set<FilePath> = []
    private let placing: Placing
    private let asked: [[UInt8]]
    /// What is wrong with items that are not intact, by their printed names: all but directories stay where
    /// they are, also those that only print alike.
    private let damage: [[UInt8]: String]
    /// The printed names of the directories that contain what stays.
    private let entered: Set<[UInt8]>
    /// An item that stays where it is, with everything below it.
    private let omitted: [UInt8]?
    /// The mount points with nothing mounted, which get no content.
    private let unmounted: Set<[UInt8]>
    private let isCancelled: () -> Bool
    private let metadata = MetadataRestorer()

    /// The walk of the restored tree. The context of a directory is the metadata that the existing
    /// one gets; nil when it keeps its own.
    private typealias Walk = DirectoryWalk<ItemMetadata?>

    private struct Item {
        let name: FilePath
        let path: [UInt8]
        let reference: SharedDescriptor
        let status: FileStatus
        let source: OpenDirectory
        let target: OpenDirectory

        var descriptor: FileDescriptor { reference.descriptor }
    }

    init(
        _ placing: Placing, asked: [[UInt8]], damage: [[UInt8]: String] = [:],
        unmounted: Set<[UInt8]> = [], omitted: [UInt8]? = nil, isCancelled: @escaping () -> Bool
    ) {
        self.placing = placing
        self.asked = asked
        self.damage = damage
        self.omitted = omitted
        self.unmounted = unmounted
        let staying =
            damage.keys + (Array(unmounted) + [omitted].compactMap(\.self)).map(printedName)
        entered = Set(staying.lazy.flatMap { ancestors(of: $0).map { Array($0) } })
        self.isCancelled = isCancelled
    }

    /// - Throws: the errno of opening the tree, or of returning to a directory of the tree;
    ///   `CancellationError`. Errors of single items are in ``failures``.
    mutating func merge(_ tree: FilePath, into target: OpenDirectory) throws {
        let source = try OpenDirectory(at: tree, flags: .readOnly)
        var target = DirectoryCursor(target)
        var walk = Walk(in: source, names: try source.names().inByteOrder(), context: nil)
        // Whether the target's directory was moved meanwhile, so that the cursor is not in it.
        var isLost = false
        while let step = try walk.next() {
            if isCancelled() { throw CancellationError() }
            switch step {
            case .entry(let name):
                do {
                    if isLost { throw Obstacle("its directory was moved meanwhile") }
                    try move(name, in: &walk, to: &target)
                } catch {
                    let reason =
                        (error as? Errno).map(sentence) ?? (error as? Obstacle)?.sentence
                    guard let reason else { throw error }
                    outcome.failures.append(.missing(walk.path(of: name), reason))
                    outcome.itemsBelowFailures += walk.directory.countItems(below: name)
                }
            case .end(_, let restored):
                if let item = restored, isLost {
                    outcome.failures.append(.different(item.path, "it was moved meanwhile"))
                } else if let item = restored {
                    metadata.apply(item, to: target.directory.descriptor)
                }
                do throws(Errno) {
                    try target.ascend()
                    isLost = false
                } catch {
                    isLost = true
                }
            }
        }
        outcome.failures += metadata.failures
    }

    /// Moves an entry to its name in the target, or goes down into both directories.
    private mutating func move(
        _ name: FilePath, in walk: inout Walk, to cursor: inout DirectoryCursor
    ) throws {
        let path = walk.path(of: name)
        if path == omitted { return }
        let printed = printedName(path)
        let reference = SharedDescriptor(try openReference(name, in: walk.directory.descriptor))
        let item = Item(
            name: name, path: path, reference: reference,
            status: try reference.descriptor.status(), source: walk.directory,
            target: cursor.directory)
        if let reason = damage[printed] {
            outcome.failures.append(.missing(path, reason))
            if item.status.kind != .directory { return }
        }
        if let there = try? cursor.directory.status(of: name), placed.contains(there.identity) {
            throw Obstacle("another item of the snapshot has its name, which is the same there")
        }
        guard item.status.kind == .directory else { return try put(item) }
        if unmounted.contains(path),
            try item.source.openDirectory(name).names().contains(where: { _ in true })
        {
            throw Obstacle(unmountedSentence)
        }
        do throws(Errno) {
            // Where something stays behind, what does not is moved piece by piece.
            if !entered.contains(printed), try placed(item, as: name) { return }
        } catch .improperLink {
            // Another filesystem is mounted there.
        }
        do throws(Errno) {
            try enter(item, in: &walk, and: &cursor)
        } catch .notDirectory, .tooManySymbolicLinkLevels {
            guard !entered.contains(printed) else { throw Errno.notDirectory }
            try meet(item, .notDirectory)
        }
    }

    private mutating func put(_ item: Item) throws {
        let isTaken = try item.target.has(item.name)
        let hasJournal =
            try (!isTaken || placing == .replacing) && checkJournals(of: item)
        if isTaken, placing == .replacing {
            if let existing = try? item.target.status(of: item.name), existing.kind == .regularFile,
                existing.linkCount > 1
            {
                outcome.filesWithOtherNames.append(item.path)
            }
            try place(item, as: item.name, .replacing)
            try notePlaced(item.name, in: item.target)
        } else if try isTaken || !placed(item, as: item.name) {
            return try meet(item, .fileExists)
        }
        // Not before: beside another file of this name a journal would damage that.
        if hasJournal { databases.insert(item.path) }
    }

    /// Gives an item a name that nothing has.
    ///
    /// - Returns: false when something has it.
    private mutating func placed(_ item: Item, as name: FilePath) throws(Errno) -> Bool {
        do throws(Errno) {
            if item.status.kind == .directory {
                try rename(item, as: name)
            } else {
                try place(item, as: name, .absent)
            }
        } catch .fileExists {
            return false
        }
        try notePlaced(name, in: item.target)
        return true
    }

    private mutating func notePlaced(_ name: FilePath, in target: OpenDirectory) throws(Errno) {
        outcome.placedItems += 1
        placed.insert(try target.status(of: name).identity)
    }

    /// Decides about an item whose name something else has, which stays.
    ///
    /// - Parameter error: what to report where it cannot be put beside that.
    private mutating func meet(_ item: Item, _ error: Errno) throws {
        guard case .beside(let suffix) = placing else { throw error }
        let isAsked = asked.contains(item.path)
        guard !isThere(item, as: item.name) else {
            if isAsked { outcome.equal.append(item.path) }
            return
        }
        guard isAsked else {
            if outcome.differingItems == 0 { outcome.firstDiffering = item.path }
            outcome.differingItems += 1
            return
        }
        guard let suffix else {
            let isDirectory = (try? item.target.status(of: item.name))?.kind == .directory
            throw Obstacle(
                isDirectory || item.status.kind == .directory
                    ? "what is there stays (move it away; to have both: --target)"
                    : "what is there stays (to replace it: --overwrite; to have both: --target)")
        }
        let hasJournal = try journalEndings.contains { ending in
            try item.source.has(FilePath(bytes: item.name.bytes + ending.utf8))
        }
        if item.status.kind == .regularFile, hasJournal {
            throw Obstacle(
                "what is there stays, and a database does not go beside it without its journal (to have "
                    + "both: --target)")
        }
        for number in 1...1000 {
            let end = number == 1 ? suffix : "\(suffix.dropLast()), \(number))"
            let name = besideName(item.name.bytes, end)
            if try placed(item, as: FilePath(bytes: name)) {
                return outcome.movedAside.append((item.path, name))
            }
            // An earlier restore put it there.
            if isThere(item, as: FilePath(bytes: name)) {
                outcome.movedAside.append((item.path, name))
                return outcome.equal.append(item.path)
            }
        }
        throw error
    }

    /// Whether what has a name has the same content and permissions as an item. What cannot be read is
    /// different.
    private func isThere(_ item: Item, as name: FilePath) -> Bool {
        do {
            let reference = OwnedDescriptor(
                try openReference(name, in: item.target.descriptor))
            let existing = try reference.descriptor.status()
            guard existing.kind == item.status.kind,
                existing.permissions == item.status.permissions
            else { return false }
            switch existing.kind {
            case .regularFile:
                guard existing.size == item.status.size else { return false }
                let other = OwnedDescriptor(try reopenFile(item.descriptor, flags: .readOnly))
                // Its owner may have a lease on it.
                let flags: FileDescriptor.OpenOptions = [.readOnly, .nonBlocking]
                let one = OwnedDescriptor(try reopenFile(reference.descriptor, flags: flags))
                return try ContentHash(
                    of: one.descriptor, upTo: existing.size, shouldStop: isCancelled)
                    == ContentHash(of: other.descriptor, shouldStop: isCancelled)
            case .symbolicLink:
                return try symbolicLinkTarget(reference.descriptor)
                    == symbolicLinkTarget(item.descriptor)
            default:
                return existing.representedDevice == item.status.representedDevice
            }
        } catch {
            return false
        }
    }

    /// Checks that a file does not get its name beside a journal of another state of the same database:
    /// SQLite would apply the one to the other.
    ///
    /// - Returns: whether a journal of it is restored, too.
    /// - Throws: ``Obstacle``.
    private func checkJournals(of item: Item) throws -> Bool {
        guard item.status.kind == .regularFile else { return false }
        var hasJournal = false
        for ending in journalEndings {
            let journal = FilePath(bytes: item.name.bytes + ending.utf8)
            let isRestored =
                try item.source.has(journal)
                && damage[printedName(item.path + ending.utf8)] == nil
            if try item.target.has(journal), placing != .replacing || !isRestored {
                throw Obstacle(
                    "a newer \(journal) is there, which belongs to another state of it: end the program "
                        + "that uses it, and move \(journal) away, or restore to another directory "
                        + "with --target")
            }
            hasJournal = hasJournal || isRestored
            let database = item.path.dropLast(ending.utf8.count)
            if item.name.length > ending.utf8.count,
                item.path.suffix(ending.utf8.count).elementsEqual(ending.utf8),
                !databases.contains(Array(database)),
                try item.target.has(FilePath(bytes: item.name.bytes.dropLast(ending.utf8.count)))
            {
                throw Obstacle("it belongs to another state of the database that is there")
            }
        }
        return hasJournal
    }

    /// Takes the name of a file away from it, unless a program has it open for writing. A lease keeps others
    /// from opening it meanwhile.
    ///
    /// - Throws: `ETXTBSY` when a program has it open for writing.
    private func replace(
        _ name: FilePath, in directory: OpenDirectory, by body: () throws(Errno) -> Void
    ) throws(Errno) {
        var lease: SharedDescriptor?
        do throws(Errno) {
            let reference = OwnedDescriptor(try openReference(name, in: directory.descriptor))
            if try reference.descriptor.status().kind == .regularFile {
                let flags: FileDescriptor.OpenOptions = [.readOnly, .nonBlocking]
                let file = SharedDescriptor(try reopenFile(reference.descriptor, flags: flags))
                try takeReadLease(of: file.descriptor)
                lease = file
            }
        } catch .resourceTemporarilyUnavailable {
            throw .textFileBusy
        } catch {
            // A filesystem without leases, a file of another user, or one that is gone.
        }
        try body()
        withExtendedLifetime(lease) {}
    }

    /// Moves an item that is no directory, or copies it to another filesystem.
    private mutating func place(
        _ item: Item, as name: FilePath, _ condition: NamingCondition
    ) throws(Errno) {
        do throws(Errno) {
            let rename = { () throws(Errno) in
                try renameItem(
                    item.name, in: item.source.descriptor, to: name, in: item.target.descriptor,
                    condition)
            }
            if condition == .replacing {
                try replace(name, in: item.target, by: rename)
            } else {
                try rename()
            }
        } catch .improperLink {
            try copy(item, as: name, replaces: condition == .replacing)
        }
    }

    /// Moves a directory. Changing its parent writes to it, so its owner may do that meanwhile.
    private func rename(_ item: Item, as name: FilePath) throws(Errno) {
        let permissions = item.status.permissions
        let isLent = permissions & 0o200 == 0 && effectiveUser() != 0
        if isLent { try setPermissions(permissions | 0o200, of: item.descriptor) }
        let outcome = Result { () throws(Errno) in
            try renameItem(
                item.name, in: item.source.descriptor, to: name, in: item.target.descriptor, .absent
            )
        }
        if isLent { try setPermissions(permissions, of: item.descriptor) }
        try outcome.get()
    }

    /// Goes down into a restored directory and the one of its name, which is made if it is missing.
    private mutating func enter(
        _ item: Item, in walk: inout Walk, and target: inout DirectoryCursor
    ) throws(Errno) {
        let name = item.name
        var isNew = true
        do throws(Errno) {
            try makeDirectory(name, in: item.target.descriptor, permissions: 0o700)
            let made = try item.target.openDirectory(name)
            try removeInheritedRights(from: made.descriptor)
            withExtendedLifetime(made) {}
        } catch .fileExists {
            isNew = false
        }
        let existing = try item.target.openBeneath(name, flags: .reference, crossingMounts: true)
        if isNew { placed.insert(try existing.status().identity) }
        if effectiveUser() != 0, item.status.permissions & 0o700 != 0o700 {
            // Its entries are moved out of it, and it is removed with the stage.
            try setPermissions(0o700, of: item.descriptor)
        }
        let restored = try item.source.openDirectory(name)
        let names = try restored.names().inByteOrder()
        let takesMetadata =
            isNew || placing == .replacing && asked.contains { isHeld(item.path, by: $0) }
        walk.enter(
            restored, names: names,
            context: takesMetadata ? ItemMetadata(item.path, item.status, of: restored) : nil)
        target.descend(into: existing, named: name)
    }

    private func copyFile(_ item: Item, as name: FilePath, _ recorded: ItemMetadata, replaces: Bool)
        throws(Errno)
    {
        if effectiveUser() != 0 { try setPermissions(0o600, of: item.descriptor) }
        let content = SharedDescriptor(try openForReading(item.name, in: item.source.descriptor))
        var file = try StagedFile(in: item.target, permissions: 0o600)
        try removeInheritedRights(from: file.descriptor)
        try copyContent(from: content.descriptor, size: recorded.status.size, to: file.descriptor)
        metadata.apply(recorded, to: file.descriptor)
        if replaces {
            try replace(name, in: item.target) { () throws(Errno) in try file.replace(name) }
        } else {
            try file.publish(as: name)
        }
    }

    private mutating func copy(_ item: Item, as name: FilePath, replaces: Bool) throws(Errno) {
        let (status, target) = (item.status, item.target)
        let recorded = ItemMetadata(item.path, status, of: item.source.location(of: item.name))
        if status.linkCount > 1 {
            outcome.failures.append(
                .different(
                    item.path,
                    "it is on another filesystem, and is not the same file as its other names"))
        }
        if status.kind == .regularFile {
            return try copyFile(item, as: name, recorded, replaces: replaces)
        }
        guard replaces else { return try make(item, as: name, recorded) }
        let directory = FilePath(bytes: item.path).removingLastComponent()
        if searched.insert(directory).inserted {
            outcome.leftovers += RestoreStage.leftovers(in: target, directory)
        }
        // What is there stays until the other is complete.
        let made = FilePath(RestoreStage.makeName())
        do throws(Errno) {
            try make(item, as: made, recorded)
            try replace(name, in: target) { () throws(Errno) in
                try renameItem(
                    made, in: target.descriptor, to: name, in: target.descriptor, .replacing)
            }
        } catch {
            // The first error is the one to report; what stays has the name of a leftover.
            try? target.remove(made)
            throw error
        }
    }

    /// Makes a copy of an item that is neither a directory nor a regular file.
    private func make(_ item: Item, as name: FilePath, _ recorded: ItemMetadata) throws(Errno) {
        let (status, target) = (item.status, item.target)
        if status.kind == .symbolicLink {
            try makeSymbolicLink(
                name, in: target.descriptor, to: try symbolicLinkTarget(item.descriptor))
        } else {
            try makeSpecialFile(
                name, in: target.descriptor, status.kind, permissions: 0o600,
                device: status.representedDevice)
        }
        let handle = SharedDescriptor(try openReference(name, in: target.descriptor))
        let made = try handle.descriptor.status()
        // Another item may have the name meanwhile, and must not get this one's metadata.
        guard made.kind == status.kind, made.linkCount == 1, made.owner == effectiveUser() else {
            throw Errno.fileExists
        }
        if status.kind != .symbolicLink { try removeInheritedRights(from: handle.descriptor) }
        metadata.apply(recorded, to: handle.descriptor)
    }
}

/// What becomes of what has the name of a restored item. Directories are merged in any case.
package enum Placing: Sendable, Hashable {
    /// It stays, and the item is a failure.
    case keeping
    /// It stays. An item that was asked for by its path gets its name with this at the end, or is a
    /// failure where this is nil; others that differ from it are counted.
    case beside(String?)
    /// It is replaced, and directories that were asked for get the metadata of the snapshot.
    case replacing
}

package let unmountedSentence =
    "it is a mount point, in /etc/fstab or when the snapshot was made, with nothing mounted: mount it, or "
    + "restore to another directory with --target"

/// What SQLite appends to a database's name for the files that belong to it.
let journalEndings = ["-wal", "-shm", "-journal"]

private struct Obstacle: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

extension OpenDirectory {
    /// Returns how many items are below an entry, as far as they can be read.
    fileprivate func countItems(below name: FilePath) -> Int {
        guard let directory = try? openDirectory(name), let names = try? directory.names() else {
            return 0
        }
        var walk = DirectoryWalk(in: directory, names: names, context: ())
        var count = 0
        while let step = try? walk.next() {
            guard case .entry(let name) = step else { continue }
            count += 1
            if let directory = try? walk.directory.openDirectory(name),
                let names = try? directory.names()
            {
                walk.enter(directory, names: names, context: ())
            }
        }
        return count
    }

    fileprivate func has(_ name: FilePath) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try status(of: name)
            return true
        } catch .noSuchFileOrDirectory, .fileNameTooLong {
            return false
        }
    }
}

/// Returns a name with an end. The name is cut at a character where both are longer than 255 bytes.
private func besideName(_ name: [UInt8], _ end: String) -> [UInt8] {
    var count = min(name.count, 255 - end.utf8.count)
    // A character has at most three bytes after the first.
    for _ in 0..<3 where count < name.count && count > 1 && name[count] & 0xC0 == 0x80 {
        count -= 1
    }
    return Array(name.prefix(count)) + end.utf8
}

/// Returns why an item could not get its name in a target, in words.
private func sentence(_ error: Errno) -> String {
    switch error {
    case .fileExists: "something else has its name"
    // The second where what is to replace it is restored in it.
    case .isDirectory, .directoryNotEmpty:
        "a directory has its name (move it away, or restore to another directory with --target)"
    case .textFileBusy: "a program has the file that is there open for writing"
    case .tooManySymbolicLinkLevels, .notDirectory:
        "something that is not a directory is in its way (move it away, or restore to another directory "
            + "with --target)"
    default: "\(error)"
    }
}
