import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The record of one evicted file, from the kept snapshot's own record or from the journal: all that
/// is needed to finish an eviction or a download.
package struct EvictedFile: Sendable, Hashable {
    /// The progress of an eviction or a download.
    ///
    /// Each state is stored on disk before the step it announces begins, so that after a crash it
    /// says what may have happened to the file. On a full disk the state may be missing.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The content is in a snapshot, as its hash shows. The file is whole.
        case held
        /// The blocks are being freed: the file may be whole, partly empty, or a placeholder.
        case punching
        /// The file is a placeholder. The journal contains this state only for files evicted by older
        /// versions, which wrote no record on the file.
        case evicted
        /// The content is being restored: the file may be a placeholder, partly filled, or whole.
        case downloading
    }

    /// The progress of the eviction or download.
    package var state: State
    /// The absolute path of the file when the record was made, without symbolic links.
    package let path: FilePath
    /// The device and inode when the record was made.
    package let identity: FileIdentity
    /// The identity that remains valid when the device number changes; nil in records of version 1,
    /// and when it is unknown.
    package let persistentIdentity: PersistentIdentity?
    /// The size in bytes, of the file and of its placeholder.
    package let size: Int64
    /// The modification time of the content and of the placeholder.
    package let modified: FileTime
    /// The permission bits that the file had; the nine bits for access are restored.
    package let permissions: UInt16
    /// The hash of the content.
    package let content: ContentHash
    /// The identifier of the snapshot that contains the content.
    package let snapshot: String
    /// The unique tag of that snapshot.
    package let pinTag: String
    /// The location of the repository that contains the snapshot, in absolute form.
    package let repository: [UInt8]
    /// The allocated size of the placeholder, in bytes; nil before the file is one. Extended
    /// attributes may use a block of their own.
    let remainingBytes: Int64?
    /// Why the last download failed, in journals of older versions.
    let failure: String?
    /// The number of bytes of the content outside holes; nil if unknown. Not stored in the journal.
    package var dataBytes: Int64?

    /// Creates the record of a placeholder.
    ///
    /// - Parameters:
    ///   - path: the path of the content in the snapshot.
    ///   - dataBytes: the number of bytes of the content outside holes; nil if unknown.
    package init(
        path: FilePath, identity: FileIdentity, size: Int64, modified: FileTime,
        permissions: UInt16, content: ContentHash, dataBytes: Int64?, pinned: PinnedSnapshot
    ) {
        self.init(
            state: .evicted, path: path, identity: identity, size: size, modified: modified,
            permissions: permissions, content: content, snapshot: pinned.snapshot,
            pinTag: pinned.tag, repository: pinned.repository)
        self.dataBytes = dataBytes
    }

    /// Creates a record in the state ``State/held``.
    init(
        path: FilePath, status: FileStatus, content: ContentHash, snapshot: String,
        pinTag: String, repository: [UInt8]
    ) {
        let known = MountedFilesystems().identity(of: status)
        var isNamed = false
        if case .named = known.filesystem { isNamed = true }
        self.init(
            state: .held, path: path, identity: status.identity,
            persistentIdentity: isNamed ? known : nil, size: status.size,
            modified: status.contentModificationTime, permissions: status.permissions,
            content: content, snapshot: snapshot, pinTag: pinTag, repository: repository)
    }

    init(
        state: State, path: FilePath, identity: FileIdentity,
        persistentIdentity: PersistentIdentity? = nil, size: Int64, modified: FileTime,
        permissions: UInt16, content: ContentHash, snapshot: String, pinTag: String,
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
        self.pinTag = pinTag
        self.repository = repository
        self.remainingBytes = remainingBytes
        self.failure = failure
    }

    /// The permission bits that a record can restore, without set-user-ID, set-group-ID and sticky:
    /// those are set only by the owner.
    var accessPermissions: UInt16 { permissions & 0o777 }

    /// Returns the record in another state.
    func inState(_ state: State) -> EvictedFile {
        var record = self
        record.state = state
        return record
    }

    /// Whether the record is about a file, judging by its inode and one of: device, path, or
    /// filesystem and creation time. Device numbers may change at boot, and paths at any time.
    ///
    /// Callers that change the file must also compare size, time and data.
    func isAbout(_ status: FileStatus, at path: @autoclosure () -> FilePath) -> Bool {
        guard identity.inode == status.identity.inode else { return false }
        return identity.device == status.identity.device || self.path == path()
            || isPersistentlyAbout(status) ?? false
    }

    /// Whether the record is about a file, judging by filesystem, inode and creation time; nil if the
    /// record has no persistent identity.
    func isPersistentlyAbout(_ status: FileStatus) -> Bool? {
        persistentIdentity.map { MountedFilesystems().isIdentity($0, of: status) }
    }

    /// Whether the recorded file was on the filesystem of the file with a status; true if the record
    /// has no persistent identity.
    func isOnFilesystem(of status: FileStatus) -> Bool {
        guard let persistentIdentity else { return true }
        return MountedFilesystems().identity(of: status).filesystem
            == persistentIdentity.filesystem
    }

    /// Whether a status is that of a regular file with the recorded size and modification time.
    func hasSizeAndTime(of status: FileStatus) -> Bool {
        status.kind == .regularFile && status.size == size
            && status.contentModificationTime == modified
    }
}
