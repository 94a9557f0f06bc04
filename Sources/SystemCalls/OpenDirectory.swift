import CLinux
import SystemPackage

/// An open directory, closed with the last reference to it.
///
/// Its entries are reached by name: a renamed or replaced ancestor does not redirect a call, and a
/// symbolic link with the name is never followed. As a ``FileLocation`` it is the directory itself.
package final class OpenDirectory: FileLocation, Sendable {
    private let owned: OwnedDescriptor

    package var descriptor: FileDescriptor { owned.descriptor }

    package var pathForMessages: FilePath? { nil }

    package init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    /// Opens a directory by its path, following a symbolic link.
    ///
    /// - Parameter flags: `.reference` to reach entries by name, `.readOnly` to list them, too.
    package convenience init(
        at path: FilePath, flags: FileDescriptor.OpenOptions = .reference
    ) throws(Errno) {
        self.init(try openFile(path, flags: flags.union(.directory)))
    }

    /// Opens an entry that is a directory.
    ///
    /// - Throws: `ENOTDIR` for anything else, also for a symbolic link.
    package func openDirectory(
        _ name: FilePath, flags: FileDescriptor.OpenOptions = .readOnly
    ) throws(Errno) -> OpenDirectory {
        OpenDirectory(
            try openFile(in: descriptor, name, flags: flags.union([.directory, .noFollow])))
    }

    /// Opens a directory below this one as a reference, without following symbolic links on the
    /// way.
    ///
    /// - Parameter names: the names that lead down to it; none for this directory itself.
    package func openDirectory(
        along names: some Sequence<[UInt8]>
    ) throws(Errno) -> OpenDirectory {
        var directory = self
        for name in names {
            directory = try directory.openDirectory(FilePath(bytes: name), flags: .reference)
        }
        return directory
    }

    /// Opens an entry that is a directory, or a directory farther below, by a path that neither
    /// leads out of this one nor through a symbolic link: see
    /// ``openBeneath(_:in:flags:crossingMounts:)``.
    package func openBeneath(
        _ path: FilePath, flags: FileDescriptor.OpenOptions,
        crossingMounts crossesMounts: Bool = false
    ) throws(Errno) -> OpenDirectory {
        OpenDirectory(
            try SystemCalls.openBeneath(
                path, in: descriptor, flags: flags.union(.directory),
                crossingMounts: crossesMounts))
    }

    /// Opens the directory that contains this one.
    package func openParent(
        flags: FileDescriptor.OpenOptions = .readOnly
    ) throws(Errno) -> OpenDirectory {
        OpenDirectory(try openFile(in: descriptor, "..", flags: flags.union(.directory)))
    }

    /// Returns the names of the entries of a directory that is open for reading.
    ///
    /// - Throws: `ENOKEY` as ``requireKey(_:)``, and the errno of reading.
    package func names() throws(Errno) -> EntryNames {
        try requireKey(descriptor)
        var names = EntryNames()
        _ = try perform(.lseek) { linux_lseek(descriptor.rawValue, 0, SEEK_SET) }
        try forEachEntry(inOpen: descriptor) { name, _ in
            names.append(name)
            return true
        }
        return names
    }

    /// Returns the location of an entry, valid while the directory is open.
    package func location(
        of name: FilePath, pathForMessages: FilePath? = nil
    ) -> DirectoryEntryLocation {
        DirectoryEntryLocation(
            directory: descriptor, name: name, pathForMessages: pathForMessages)
    }

    package func status(of name: FilePath) throws(Errno) -> FileStatus {
        try location(of: name).status()
    }

    package func statusIfPresent(of name: FilePath) throws(Errno) -> FileStatus? {
        try ifPresent { () throws(Errno) in try status(of: name) }
    }

    package func remove(_ name: FilePath, isDirectory: Bool = false) throws(Errno) {
        try removeItem(name, in: descriptor, isDirectory: isDirectory)
    }

    package func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        try descriptor.lookUp(body)
    }
}

/// Names of entries of a directory, without `.` and `..`: a sequence that is read once, and keeps
/// all names in one block of memory.
package struct EntryNames: Sequence, IteratorProtocol, Sendable {
    /// The names, each NUL-terminated, one after another.
    private var characters: [CChar] = []
    /// The index at which each name begins, in order.
    private var starts: [Int] = []
    private var position = 0

    package init(_ names: [[UInt8]] = []) {
        for name in names { append(name) }
    }

    fileprivate mutating func append(_ name: [UInt8]) {
        starts.append(characters.count)
        for byte in name { characters.append(CChar(bitPattern: byte)) }
        characters.append(0)
    }

    package mutating func next() -> FilePath? {
        guard position < starts.count else { return nil }
        defer { position += 1 }
        return characters.withUnsafeBufferPointer { characters in
            FilePath(platformString: characters.baseAddress.unsafelyUnwrapped + starts[position])
        }
    }

    package func inByteOrder() -> EntryNames {
        var sorted = self
        characters.withUnsafeBufferPointer { characters in
            guard let base = characters.baseAddress else { return }
            sorted.starts.sort { strcmp(base + $0, base + $1) < 0 }
        }
        return sorted
    }
}
