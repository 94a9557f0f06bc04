import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// What is known of one file while its content goes or comes back, from the kept snapshot's own record
/// or from the journal: all that is needed to finish that.
public struct EvictedFile: Sendable, Hashable {
    /// How far an eviction or its undoing has come.
    ///
    /// Each state is on the disk before what it announces begins, so that whoever finds the file
    /// after a crash knows what may have happened to it.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// A snapshot holds the content, which was compared. The file is whole.
        case held
        /// The blocks are being freed: the file is whole, a placeholder, or something in between.
        case punching
        /// The file is a placeholder. In the journal these are left of versions that wrote no record on
        /// the file.
        case evicted
        /// The content is coming back: the file is a placeholder, whole, or something in between.
        case downloading
    }

    /// How far things have come.
    public var state: State
    /// The absolute path the file had, without symbolic links.
    public let path: FilePath
    /// Device and inode when the record was made.
    public let identity: FileIdentity
    /// What the file is known by when its device has another number; nil in records of version 1, and
    /// where nothing else is known.
    package let persistentIdentity: PersistentIdentity?
    /// The size in bytes, of the file and of its placeholder.
    public let size: Int64
    /// When the content last changed; the placeholder's time too.
    public let modified: FileTime
    /// The permission bits that the file had; it gets those for access back.
    public let permissions: UInt16
    /// The hash of the content.
    public let content: ContentHash
    /// The identifier of the snapshot that holds the content.
    public let snapshot: String
    /// The tag of that snapshot, which no other has.
    public let holdTag: String
    /// The repository that holds the snapshot, in the words that name it.
    public let repository: [UInt8]
    /// What the placeholder still takes on the disk, in bytes; nil before it is one. Attributes may
    /// have a block of their own.
    let remainingBytes: Int64?
    /// Why the content could not be brought back when that was last tried, in the journals of older
    /// versions.
    let failure: String?
    /// How many bytes of the content are no holes; nil where nobody knows. The journal does not keep it.
    public var dataBytes: Int64?

    /// Creates what is known of a placeholder.
    ///
    /// - Parameters:
    ///   - path: the path that the content has in the snapshot.
    ///   - dataBytes: how many bytes of the content are no holes; nil where nobody knows.
    public init(
        path: FilePath, identity: FileIdentity, size: Int64, modified: FileTime,
        permissions: UInt16, content: ContentHash, dataBytes: Int64?, hold: HoldSnapshot
    ) {
        self.init(
            state: .evicted, path: path, identity: identity, size: size, modified: modified,
            permissions: permissions, content: content, snapshot: hold.snapshot,
            holdTag: hold.tag, repository: hold.repository)
        self.dataBytes = dataBytes
    }

    /// Creates a record in the state ``State/held``.
    init(
        path: FilePath, status: FileStatus, content: ContentHash, snapshot: String,
        holdTag: String, repository: [UInt8]
    ) {
        let known = MountedFilesystems().identity(of: status)
        var isNamed = false
        if case .named = known.filesystem { isNamed = true }
        self.init(
            state: .held, path: path, identity: status.identity,
            persistentIdentity: isNamed ? known : nil, size: status.size,
            modified: status.contentModificationTime, permissions: status.permissions,
            content: content, snapshot: snapshot, holdTag: holdTag, repository: repository)
    }

    init(
        state: State, path: FilePath, identity: FileIdentity,
        persistentIdentity: PersistentIdentity? = nil, size: Int64, modified: FileTime,
        permissions: UInt16, content: ContentHash, snapshot: String, holdTag: String,
        repository: [UInt8], remainingBytes: Int64? = nil, failure: String? = nil
    ) {
        self.state = state
        self.path = path
        self.identity = identity
        self.persistentIdentity = persistentIdentity
        self.size = size
        self.modified = modified
        self.permissions = permissions
        self.content = content
        self.snapshot = snapshot
        self.holdTag = holdTag
        self.repository = repository
        self.remainingBytes = remainingBytes
        self.failure = failure
    }

    /// The permission bits that a record can give a file: those that decide about more than access
    /// are only ever its owner's to set.
    var accessPermissions: UInt16 { permissions & 0o777 }

    /// The record in another state.
    func inState(_ state: State) -> EvictedFile {
        var record = self
        record.state = state
        return record
    }

    /// Whether a file is the one this record is about, by inode and one of device, path, and filesystem
    /// with time of birth: device numbers may change when the machine starts, and paths at any time.
    ///
    /// Who acts on the file compares size, time and data, too.
    func isAbout(_ status: FileStatus, at path: @autoclosure () -> FilePath) -> Bool {
        guard identity.inode == status.identity.inode else { return false }
        return identity.device == status.identity.device || self.path == path()
            || isPersistentlyAbout(status) ?? false
    }

    /// Whether a file is the one this record is about, by filesystem, inode and time of birth; nil where
    /// the record does not tell.
    func isPersistentlyAbout(_ status: FileStatus) -> Bool? {
        persistentIdentity.map { MountedFilesystems().isIdentity($0, of: status) }
    }

    /// Whether the file was on the filesystem that another one is on; true where the record does not tell.
    func isOnFilesystem(of status: FileStatus) -> Bool {
        guard let persistentIdentity else { return true }
        return MountedFilesystems().identity(of: status).filesystem
            == persistentIdentity.filesystem
    }

    /// Whether size and time are the placeholder's.
    func hasSizeAndTime(of status: FileStatus) -> Bool {
        status.kind == .regularFile && status.size == size
            && status.contentModificationTime == modified
    }
}
