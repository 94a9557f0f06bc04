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
    /// Room for the inodes of some nine thousand directories.
    static let slotSize = 96 << 10

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
        guard size < Int64(2 * Self.slotSize) else { return }
        if size == 0 {
            // Only btrfs supports this and needs it; elsewhere it fails.
            try? setOverwrittenInPlace(file.descriptor)
        }
        // The existing part may contain records of a run that could not reserve all blocks.
        let zeros = [UInt8](repeating: 0, count: 2 * Self.slotSize - Int(size))
        do throws(Errno) {
            try write(zeros, at: Int(size))
        } catch .noSpace, .diskQuotaExceeded {
            return
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
            try writeFile(file.descriptor, UnsafeRawBufferPointer(bytes), at: Int64(offset))
        }
        try synchronize(file.descriptor)
    }

    private func read() throws(Errno) {
        let bytes = try SystemCalls.contents(
            ofOpen: file.descriptor, file.descriptor.status(), limit: 1 << 20)
        let slots = [bytes.prefix(Self.slotSize), bytes.dropFirst(Self.slotSize)]
        guard
            let newest = slots.compactMap({ JournalContents(Array($0)) })
                .max(by: { $0.isOlder(than: $1) })
        else { return }
        sequence = newest.sequence
        records = newest.records
    }

    /// Whether records can be stored together, with all their inodes.
    func hasRoom(for new: [AsideRecord]) -> Bool {
        contents(new, replacing: new).bytes(upTo: Self.slotSize) != nil
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
        guard let bytes = contents.bytes(upTo: Self.slotSize) else {
            throw FileError(
                code: .tooLarge, message: "too much is put aside, or its path is too long",
                advice: "look for .resval-purge-* that was left", path: path)
        }
        try calls(on: path) { () throws(Errno) in
            try write(bytes, at: Int(contents.sequence % 2) * Self.slotSize)
        }
        sequence = contents.sequence
        records = contents.records
    }
}

/// All records of a journal, as stored in one of its two slots: a line with a checksum, and one in JSON.
/// What follows them in the slot is of an earlier write.
struct JournalContents {
    let sequence: UInt64
    let records: [AsideRecord]

    init(sequence: UInt64, records: [AsideRecord]) {
        self.sequence = sequence
        self.records = records
    }

    /// Whether the other slot was written later. The sequence number may wrap around to 0.
    func isOlder(than other: JournalContents) -> Bool {
        Int64(bitPattern: other.sequence &- sequence) > 0
    }

    /// Parses a slot; nil when it is empty or was not written completely.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(
            separator: newline, maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0].elementsEqual(Self.head(of: lines[1])),
            var fields = try? JSONFields(lines[1]),
            let sequence: UInt64 = fields.number("sequence"),
            let records = try? fields.objects("records", { AsideRecord(&$0) }), fields.isEmpty
        else { return nil }
        self.init(sequence: sequence, records: records)
    }

    /// Returns the bytes of the slot; nil when there are more than the limit.
    func bytes(upTo limit: Int) -> [UInt8]? {
        // An inode takes more than ten bytes: far too many are not even encoded.
        let inodes = records.reduce(0) { $0 + ($1.knownInodes?.count ?? 0) }
        guard inodes <= limit / 10 else { return nil }
        var line = JSONLine()
        line.add("sequence", sequence)
        line.add("records", objects: records) { record, line in record.add(to: &line) }
        let body = line.ended()
        let bytes = Self.head(of: body.dropLast()) + [newline] + body
        return bytes.count <= limit ? bytes : nil
    }

    private static func head(of body: ArraySlice<UInt8>) -> [UInt8] {
        let checksum = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return Array("resvalp3 \(String(checksum, radix: 16))".utf8)
    }
}

private let newline = UInt8(ascii: "\n")

/// The journal's record of a directory that was moved aside to be deleted.
struct AsideRecord: Sendable, Hashable {
    enum State: String, Sendable {
        /// The directory was moved aside, or is about to be. After a crash it gets its name back.
        case aside
        /// The directory was examined again and may be deleted. After a crash its removal is
        /// finished.
        case deleting
    }

    var state: State
    let identity: PersistentIdentity
    let parent: PersistentIdentity
    let parentPath: [UInt8]
    let name: [UInt8]
    let asideName: [UInt8]
    /// The latest inode change time below the directory: anything newer was added or changed since.
    let newestChange: FileTime
    /// The inodes of the directories, the top one included, whose times the removal changes before it
    /// removes them. nil in state `aside`, and when there are too many for the journal.
    var knownInodes: Set<UInt64>?

    var path: [UInt8] { parentPath + [UInt8(ascii: "/")] + name }

    var asidePath: [UInt8] { parentPath + [UInt8(ascii: "/")] + asideName }
}

extension AsideRecord {
    /// Takes a record from JSON; nil for an invalid one.
    init?(_ fields: inout JSONFields) {
        guard let state = fields.text("state").flatMap(State.init),
            let files = try? fields.objects("files", Self.identity), files.count == 2,
            case let parentPath?? = fields.bytes("parent"),
            case let name?? = fields.bytes("name"),
            case let asideName?? = fields.bytes("asideName"),
            let seconds: Int64 = fields.number("newestChange"),
            let nanoseconds: UInt32 = fields.number("newestChangeNanoseconds"),
            nanoseconds < 1_000_000_000,
            parentPath.isEmpty || RelativePath(absolute: parentPath) != nil,
            RelativePath(name)?.names.count == 1, RelativePath(asideName)?.names.count == 1,
            AsideName.matches(asideName)
        else { return nil }
        if let text = fields.text("knownInodes") {
            guard let inodes = Self.inodes(in: text) else { return nil }
            knownInodes = inodes
        }
        self.state = state
        (identity, parent) = (files[0], files[1])
        self.parentPath = parentPath
        self.name = name
        self.asideName = asideName
        newestChange = FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }

    private static func identity(_ fields: inout JSONFields) -> PersistentIdentity? {
        guard let inode: UInt64 = fields.number("inode") else { return nil }
        return PersistentIdentity(inode: inode, &fields)
    }

    fileprivate func add(to line: inout JSONLine) {
        line.add("state", state.rawValue)
        line.add("files", objects: [identity, parent]) { file, line in line.add(file) }
        line.add("parent", "parentBase64", parentPath)
        line.add("name", "nameBase64", name)
        line.add("asideName", "asideNameBase64", asideName)
        line.add("newestChange", newestChange.seconds)
        line.add("newestChangeNanoseconds", newestChange.nanoseconds)
        if let knownInodes { line.add("knownInodes", Self.text(of: knownInodes)) }
    }

    /// Thousands of numbers take little room as Base64 of eight bytes each.
    private static func text(of inodes: Set<UInt64>) -> String {
        let bytes = inodes.flatMap { inode in
            (0..<8).map { UInt8(truncatingIfNeeded: inode >> ($0 * 8)) }
        }
        var text: [UInt8] = []
        Base64.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func inodes(in text: String) -> Set<UInt64>? {
        guard let bytes = Base64.bytes(of: Array(text.utf8)), bytes.count % 8 == 0 else {
            return nil
        }
        return Set(
            stride(from: 0, to: bytes.count, by: 8).map { start in
                bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            })
    }
}

/// The names of directories that are moved aside.
enum AsideName {
    static let prefix = Array(".resval-purge-".utf8)

    /// Returns a name that cannot be predicted.
    static func make() -> [UInt8] {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - number.count) + number).utf8)
    }

    static func matches(_ name: some Collection<UInt8>) -> Bool { name.starts(with: prefix) }
}

/// The journal of one run. On a full disk it may be impossible to create before something is
/// deleted, or to write; then one in a volatile directory is used, whose records a restart of the
/// machine loses: what is put aside is then reported and never deleted.
final class RunJournal {
    private let directory: FilePath?
    private let volatileDirectory: FilePath?
    /// Nil where leftovers are not settled.
    private let examiner: ((FilePath) throws(FileError) -> UnitExaminer)?
    private let isShared: Bool
    private var regular: PurgeJournal?
    private var volatile: PurgeJournal?
    /// Whether new records are stored in the volatile journal.
    private var usesVolatile = false

    /// - Parameters:
    ///   - directory: the directory of the journal; nil when none is known.
    ///   - volatileDirectory: a directory in memory, or nil.
    ///   - isShared: whether the journal is open only while it is needed, so that other purges of
    ///     the same user can be at work meanwhile; such a run uses no volatile one.
    ///   - examiner: returns the examiner of a directory that was put aside.
    init(
        in directory: FilePath?, volatile volatileDirectory: FilePath?, isShared: Bool,
        settles: Bool, examiner: @escaping (FilePath) throws(FileError) -> UnitExaminer
    ) {
        self.directory = directory
        self.volatileDirectory = isShared ? nil : volatileDirectory
        self.isShared = isShared
        self.examiner = settles ? examiner : nil
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
            if isShared { regular = nil }
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
        guard let journal, let examiner else { return failures }
        Leftovers(journal: journal, examiner: examiner).settle { leftover in
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
    func whileOpen<Result>(
        unless shouldStop: @escaping @Sendable () -> Bool, _ body: (PurgeJournal) throws -> Result
    ) throws -> Result {
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
