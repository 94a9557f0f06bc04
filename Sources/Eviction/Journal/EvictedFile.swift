import ResourceValues
import SystemPackage

/// What the journal knows of one file: all that is needed to tell its placeholder from any other file,
/// and to bring its content back.
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
        /// The file is a placeholder.
        case evicted
        /// The content is coming back: the file is a placeholder, whole, or something in between.
        case downloading
    }

    /// How far things have come.
    public var state: State
    /// The absolute path the file had, without symbolic links.
    public let path: FilePath
    /// Device and inode.
    public let identity: FileIdentity
    /// The size in bytes, of the file and of its placeholder.
    public let size: Int64
    /// When the content last changed; the placeholder's time too.
    public let modified: FileTime
    /// The permission bits that the file gets back.
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
    public var remainingBytes: Int64?
    /// Why the content could not be brought back when that was last tried; nil when it was not, or is
    /// being tried.
    public var failure: String?

    /// Creates a record in the state ``State/held``.
    public init(
        path: FilePath, status: FileStatus, content: ContentHash, snapshot: String,
        holdTag: String, repository: [UInt8]
    ) {
        self.init(
            state: .held, path: path, identity: status.identity, size: status.size,
            modified: status.contentModificationTime, permissions: status.permissions,
            content: content, snapshot: snapshot, holdTag: holdTag, repository: repository)
    }

    init(
        state: State, path: FilePath, identity: FileIdentity, size: Int64, modified: FileTime,
        permissions: UInt16, content: ContentHash, snapshot: String, holdTag: String,
        repository: [UInt8], remainingBytes: Int64? = nil, failure: String? = nil
    ) {
        self.state = state
        self.path = path
        self.identity = identity
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

    /// The record in another state.
    func inState(_ state: State) -> EvictedFile {
        var record = self
        record.state = state
        return record
    }

    /// Whether a file is the one this record is about, by inode and either device or path: device
    /// numbers may change when the machine starts, and paths at any time.
    public func isAbout(_ identity: FileIdentity, at path: @autoclosure () -> FilePath) -> Bool {
        self.identity.inode == identity.inode
            && (self.identity.device == identity.device || self.path == path())
    }

    /// Whether size and time are the placeholder's.
    func hasSizeAndTime(of status: FileStatus) -> Bool {
        status.kind == .regularFile && status.size == size
            && status.contentModificationTime == modified
    }
}
