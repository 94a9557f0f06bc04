import CLinux
import StoragePolicy
import SystemCalls
import SystemPackage

extension StorageLocation {
    /// Makes the directory where it is missing: `mkdirat(2)`, with mode 0700 less the process's
    /// umask, for it and for each directory above it that is missing; then looks at what is there.
    ///
    /// Several programs may do this at once.
    ///
    /// - Returns: the directory's path.
    /// - Throws: `FileError`: `notADirectory` when something else has the name; `permissionDenied`
    ///   when the directory belongs to another user (but for a temporary location, which everybody
    ///   shares), or when others, but for this user's own group, may write a location of caches or
    ///   application support, and so replace what is stored there; and those of making directories.
    @discardableResult
    public func make() throws(FileError) -> FilePath {
        try makeDirectories(path)
        try check(path, isShared: kind == .temporary)
        return path
    }

    /// Makes a program's own directory in the location, as ``make()`` does; in a temporary location,
    /// too, it must be this user's and closed to writers.
    ///
    /// - Parameter name: the directory's name, such as the program's: one component.
    /// - Returns: the directory's path.
    /// - Throws: as ``make()``; `other` for what is no single name.
    @discardableResult
    public func makeDirectory(named name: String) throws(FileError) -> FilePath {
        guard let component = FilePath.Component(name), component.kind == .regular else {
            throw FileError(code: .other, message: "'\(name)' is no name of a directory")
        }
        let directory = try make().appending(component)
        do throws(Errno) {
            try SystemCalls.makeDirectory(
                directory, in: FileDescriptor(rawValue: AT_FDCWD), permissions: 0o700)
        } catch .fileExists {
            // Who made it is looked at below.
        } catch {
            throw .changingItem(error, directory)
        }
        try check(directory, isShared: false, followsLink: kind != .temporary)
        return directory
    }

    private func check(
        _ directory: FilePath, isShared: Bool, followsLink: Bool = true
    ) throws(FileError) {
        let status: FileStatus
        do throws(Errno) {
            status = try followsLink ? directory.status() : directory.withoutFollowing.status()
        } catch {
            throw .readingStatus(error, of: directory)
        }
        guard status.kind == .directory else {
            throw FileError(
                code: .notADirectory, message: "is not a directory", path: directory)
        }
        if isShared { return }
        guard status.owner == effectiveUser() else {
            throw FileError(
                code: .permissionDenied, message: "belongs to another user", path: directory)
        }
        // A user's own group may write, where the system gives each user one.
        let others: UInt16 = status.group == effectiveGroup() ? 0o002 : 0o022
        guard kind == .documents || status.permissions & others == 0 else {
            throw FileError(
                code: .permissionDenied, message: "others may write this directory",
                advice: "chmod go-w", path: directory)
        }
    }
}
