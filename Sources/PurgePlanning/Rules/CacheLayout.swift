import SystemCalls
import SystemPackage

/// What the entries of a program's directory in a directory for caches say about how they belong
/// together. An index without its data, or data without its index, can break the program that made
/// them: such entries go together or not at all.
struct CacheLayout {
    /// Whether a database lies beside directories: it may be their index.
    private(set) var isIndexed = false
    /// Whether a directory that is kept for what it holds, such as a repository, lies beside files:
    /// small ones may be its index.
    private(set) var keepsSmallFiles = false

    /// The most directories that are searched for one to keep. Among more, there may be one.
    private static let mostDirectories = 1000

    /// Reads the layout of a directory. Where part of it cannot be read, all is kept together.
    ///
    /// - Parameters:
    ///   - path: its path with a trailing slash.
    ///   - list: says what keeps a directory.
    init(
        of directory: borrowing some FileLocation & ~Copyable, at path: [UInt8],
        _ list: NotACache
    ) {
        var directories: [[UInt8]] = []
        var (hasDatabase, hasFiles) = (false, false)
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openPreservingAccessTime(
                    directory, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
            try forEachEntry(inOpen: opened.descriptor) { name, isDirectory in
                // The kind is not known on some filesystems: then it may be either.
                if isDirectory != false, directories.count <= Self.mostDirectories {
                    directories.append(name)
                }
                if isDirectory != true {
                    hasFiles = true
                    hasDatabase = hasDatabase || Self.isDatabase(name)
                }
                return true
            }
            guard hasFiles, !directories.isEmpty else { return }
            isIndexed = hasDatabase
            let device = try opened.descriptor.status().identity.device
            keepsSmallFiles = directories.count > Self.mostDirectories
            for name in directories where !keepsSmallFiles {
                // What is mounted there may never answer.
                guard let status = try Self.status(of: name, in: opened.descriptor),
                    status.kind == .directory, status.isMountRoot != true,
                    status.identity.device == device
                else { continue }
                let inside = path + name + [UInt8(ascii: "/")]
                keepsSmallFiles = list.reason(treeWith: { hasEntry($0, in: inside[...]) }) != nil
            }
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            (isIndexed, keepsSmallFiles) = (true, true)
        }
    }

    /// Returns the status of an entry; nil when it is gone.
    private static func status(
        of name: [UInt8], in directory: FileDescriptor
    ) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name))
                .statusAtHand()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    private static func isDatabase(_ name: [UInt8]) -> Bool {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return name[dot...].elementsEqual(".db".utf8) || name[dot...].starts(with: ".sqlite".utf8)
    }
}

extension PurgeRules {
    /// Returns how the entries of a program's directory for caches belong together; nil where the list
    /// says that they do not.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - path: its path with a trailing slash.
    func layout(
        of directory: borrowing some FileLocation & ~Copyable, named name: [UInt8],
        at path: [UInt8]
    ) -> CacheLayout? {
        notACache.isSplit(name) ? nil : CacheLayout(of: directory, at: path, notACache)
    }
}
