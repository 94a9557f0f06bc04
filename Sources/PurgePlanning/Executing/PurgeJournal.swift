import EffectiveValues
import SystemCalls
import SystemPackage

/// The journal of the directories a purge moved aside, and the lock against other purges of the
/// same user.
///
/// One file of fixed size with two slots that are written in turn, each with all records: after a
/// crash in the middle of a write the other slot is intact. The file remains between runs, so that
/// its blocks are reserved when the disk is full.
final class PurgeJournal {
    private let file: SharedDescriptor
    private let path: FilePath
    private var sequence: UInt64 = 0
    private(set) var records: [AsideRecord] = []
    /// The filesystems by which the files of records are identified.
    let filesystems = MountedFilesystems()

    static func exists(in directory: FilePath) -> Bool {
        (try? directory.appending("journal").withoutFollowing.status()) != nil
    }

    /// Opens the journal in a directory, and creates it if it does not exist.
    ///
    /// - Throws: ``PurgeRefusal`` `anotherIsAtWork`, and `FileError`: `permissionDenied` for a
    ///   journal or a directory of another user.
    init(in directory: FilePath) throws {
        try makeStateDirectory(directory)
        path = directory.appending("journal")
        guard let opened = try openStateFile(path, makingIt: true) else {
            throw FileError.opening(.noSuchFileOrDirectory, path)
        }
        file = SharedDescriptor(opened)
        do throws(Errno) {
            guard try waitForLock(on: file.descriptor) else { throw .wouldBlock }
            try reserve()
            try read()
        } catch .wouldBlock {
            throw PurgeRefusal.anotherIsAtWork
        } catch {
            throw FileError(error, of: path)
        }
    }

    /// Reserves the blocks of both slots. On a full disk the next run tries again.
    private func reserve() throws(Errno) {
        let size = try file.descriptor.status().size
        guard size < Int64(2 * placeSize) else { return }
        if size == 0 {
            // Only btrfs supports this and needs it; elsewhere it fails.
            try? setOverwrittenInPlace(file.descriptor)
        }
        // The existing part may contain records of a run that could not reserve all blocks.
        let zeros = [UInt8](repeating: 0, count: 2 * placeSize - Int(size))
        do throws(Errno) {
            try write(zeros, at: Int(size))
        } catch .noSpace, .diskQuotaExceeded {
            return
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        var failure: Errno?
        bytes.withUnsafeBytes { bytes in
            do throws(Errno) {
                try writeFile(file.descriptor, bytes, at: Int64(offset))
                try synchronize(file.descriptor)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func read() throws(Errno) {
        let places = [try placeContents(0), try placeContents(1)]
        guard let newest = places.compactMap(JournalContents.init).max(by: { $0.isOlder(than: $1) })
        else { return }
        sequence = newest.sequence
        records = newest.records
    }

    private func placeContents(_ place: Int) throws(Errno) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: placeSize, alignment: 8)
        defer { buffer.deallocate() }
        var count = 0
        while count < placeSize {
            let part = try readFile(
                file.descriptor, at: Int64(place * placeSize + count),
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            if part == 0 { break }
            count += part
        }
        return Array(buffer[..<count])
    }

    /// Whether records can be stored together, with all their inodes.
    func hasRoom(for new: [AsideRecord]) -> Bool {
        contents(new, replacing: new).bytes(upTo: placeSize) != nil
    }

    /// Stores records in one write, replacing those of the same directories. Their inodes are
    /// omitted when there is no room for them. All of them are on disk when this returns.
    func store(_ new: [AsideRecord]) throws(FileError) {
        do throws(FileError) {
            try replace(contents(new, replacing: new))
        } catch {
            guard error.code == .tooLarge, new.contains(where: { $0.knownInodes != nil }) else {
                throw error
            }
            var shorter = new
            for index in shorter.indices { shorter[index].knownInodes = nil }
            try replace(contents(shorter, replacing: new))
        }
    }

    /// Removes records in one write; the removal is on disk when this returns.
    func remove(_ old: [AsideRecord]) throws(FileError) {
        try replace(contents([], replacing: old))
    }

    private func contents(_ new: [AsideRecord], replacing old: [AsideRecord]) -> JournalContents {
        let paths = Set(old.map(\.asidePath))
        return JournalContents(
            sequence: sequence &+ 1,
            records: records.filter { !paths.contains($0.asidePath) } + new)
    }

    private func replace(_ contents: JournalContents) throws(FileError) {
        guard let bytes = contents.bytes(upTo: placeSize) else {
            throw FileError(
                code: .tooLarge, message: "too much is put aside, or its path is too long",
                advice: "look for .resval-purge-* that was left", path: path)
        }
        do throws(Errno) {
            try write(bytes, at: Int(contents.sequence % 2) * placeSize)
        } catch {
            throw FileError(error, of: path)
        }
        sequence = contents.sequence
        records = contents.records
    }
}

private let placeSize = 1 << 16

/// The journal of one run. On a full disk it may be impossible to create before something is
/// deleted, or to write; then one in a volatile directory is used, whose records a restart of the
/// machine loses: what is put aside is then reported and never deleted.
final class RunJournal {
    private let directory: FilePath?
    private let volatileDirectory: FilePath?
    private let rules: (FilePath) throws(FileError) -> PurgeRules
    private let isShared: Bool
    private var regular: PurgeJournal?
    private var volatile: PurgeJournal?
    /// The records that were left when a shared journal was open last.
    private var sharedRecords: [AsideRecord] = []
    /// Whether new records are stored in the volatile journal.
    private var usesVolatile = false

    /// - Parameters:
    ///   - directory: the directory of the journal; nil when none is known.
    ///   - volatileDirectory: a directory in memory, or nil.
    ///   - isShared: whether the journal is open only while it is needed, so that other purges of
    ///     the same user can be at work meanwhile; such a run uses no volatile one.
    ///   - rules: returns the rules for the filesystem of a path.
    init(
        in directory: FilePath?, volatile volatileDirectory: FilePath?, isShared: Bool,
        rules: @escaping (FilePath) throws(FileError) -> PurgeRules
    ) {
        self.directory = directory
        self.volatileDirectory = isShared ? nil : volatileDirectory
        self.isShared = isShared
        self.rules = rules
    }

    /// The records of all journals that are open.
    var records: [AsideRecord] {
        (regular?.records ?? sharedRecords) + (volatile?.records ?? [])
    }

    /// Opens the journal, unless it is already open or the disk is full, and the volatile one if it
    /// exists, and settles the leftovers of an interrupted purge.
    ///
    /// - Returns: the number of leftovers that failed.
    /// - Throws: ``PurgeRefusal``, and `FileError` for anything but a full disk or quota.
    func open(_ event: (PurgeEvent) -> Void) throws -> Int {
        guard let directory else { throw PurgeRefusal.noStateDirectory }
        var failures = 0
        if regular == nil {
            do {
                regular = try PurgeJournal(in: directory)
            } catch let error as FileError {
                guard error.isForWantOfRoom else { throw error }
            } catch PurgeRefusal.anotherIsAtWork where isShared {
                // That purge settled the leftovers when it began.
                return 0
            }
            failures += settle(regular, event)
            if isShared {
                sharedRecords = regular?.records ?? []
                regular = nil
            }
        }
        if volatile == nil, let volatileDirectory, PurgeJournal.exists(in: volatileDirectory) {
            failures += try openVolatileJournal(event)
        }
        return failures
    }

    /// Opens the volatile journal, for the records from now on, if there is a directory for it.
    ///
    /// - Returns: the number of leftovers that failed.
    /// - Throws: as ``open(_:)``.
    func openVolatile(_ event: (PurgeEvent) -> Void) throws -> Int {
        let failures = volatile == nil ? try openVolatileJournal(event) : 0
        usesVolatile = volatile != nil
        return failures
    }

    private func openVolatileJournal(_ event: (PurgeEvent) -> Void) throws -> Int {
        guard let volatileDirectory else { return 0 }
        do {
            volatile = try PurgeJournal(in: volatileDirectory)
        } catch let error as FileError
            where error.isForWantOfRoom
            || [.permissionDenied, .noSuchFile, .readOnlyFilesystem].contains(error.code)
        {
            // It belongs to another user, as with sudo -E, is full too, or cannot be created.
            return 0
        }
        return settle(volatile, event)
    }

    private func settle(_ journal: PurgeJournal?, _ event: (PurgeEvent) -> Void) -> Int {
        var failures = 0
        guard let journal else { return failures }
        Leftovers(journal: journal, rules: rules).settle { leftover in
            if case .leftover(_, .failed) = leftover { failures += 1 }
            event(leftover)
        }
        return failures
    }

    /// Runs a step that needs the journal. A shared one is opened for it, when no other purge has it
    /// open any more.
    ///
    /// - Throws: `FileError` `noSpace` while there is no room for the journal; `CancellationError`
    ///   when `shouldStop` ended the wait.
    func whileOpen(
        unless shouldStop: @escaping @Sendable () -> Bool, _ body: (PurgeJournal) throws -> Void
    ) throws {
        guard isShared, let directory else { return try body(required()) }
        while true {
            do {
                return try body(PurgeJournal(in: directory))
            } catch PurgeRefusal.anotherIsAtWork {
                sleep(for: .milliseconds(20), unless: shouldStop)
                if shouldStop() { throw CancellationError() }
            }
        }
    }

    private func required() throws(FileError) -> PurgeJournal {
        if let journal = usesVolatile ? volatile : regular { return journal }
        throw FileError(
            code: .noSpace, message: "there is no room for the journal that removing it needs",
            advice: "delete something by hand, or set XDG_STATE_HOME to another filesystem")
    }
}

extension FileError {
    /// Whether a disk or a quota is full.
    var isForWantOfRoom: Bool { code == .noSpace || code == .quotaExceeded }
}
