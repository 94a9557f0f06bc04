import SystemCalls
import SystemPackage

/// What the entries of a program's directory in a directory for caches say about how they belong
/// together. An index without its data, or data without its index, can break the program that made
/// them: such entries go together or not at all.
struct CacheLayout {
    /// Whether a database lies beside directories: it may be their index.
    private(set) var isIndexed = false
    /// Whether a repository lies beside files: small files may be its index.
    private(set) var keepsSmallFiles = false

    /// The most directories that are searched for a repository. Among more, there may be one.
    private static let mostDirectories = 1000

    /// Reads the layout of a directory. One that cannot be read has none: its entries are not met
    /// either.
    ///
    /// - Parameter path: its path with a trailing slash.
    init(of directory: borrowing some FileLocation & ~Copyable, at path: [UInt8]) {
        var directories: [[UInt8]] = []
        var (hasDatabase, hasFiles) = (false, false)
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openPreservingAccessTime(
                    directory, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
            try forEachEntry(inOpen: opened.descriptor) { name, isDirectory in
                if isDirectory == true {
                    if directories.count <= Self.mostDirectories { directories.append(name) }
                } else {
                    hasFiles = true
                    hasDatabase = hasDatabase || Self.isDatabase(name)
                }
                return true
            }
            guard hasFiles, !directories.isEmpty else { return }
            isIndexed = hasDatabase
            let device = try opened.descriptor.status().identity.device
            keepsSmallFiles =
                directories.count > Self.mostDirectories
                || directories.contains { name in
                    // What is mounted there may never answer.
                    let entry = DirectoryEntryLocation(
                        directory: opened.descriptor, name: FilePath(bytes: name))
                    guard let status = try? entry.statusAtHand(), status.isMountRoot != true,
                        status.identity.device == device
                    else { return false }
                    let inside = path + name + [UInt8(ascii: "/")]
                    return repositories.contains { hasEntry($0, in: inside[...]) }
                }
        } catch {
            return
        }
    }

    private static func isDatabase(_ name: [UInt8]) -> Bool {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return name[dot...].elementsEqual(".db".utf8) || name[dot...].starts(with: ".sqlite".utf8)
    }
}

/// Names that make a directory a repository.
private let repositories: [[UInt8]] = [".git", ".hg", ".svn", ".jj"].map { Array($0.utf8) }
