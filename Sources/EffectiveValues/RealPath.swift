import SystemCalls
import SystemPackage

/// Returns the path of a file without symbolic links, `.` or `..`.
///
/// Resolves one name at a time by descriptor, so neither the path nor the result is limited to
/// `PATH_MAX`. Takes about three system calls per name.
///
/// - Parameters:
///   - path: absolute, or relative to the working directory.
///   - followsLast: whether a symbolic link at the end is followed; otherwise the result is the
///     real path of the link itself.
/// - Throws: ``FileError``: `noSuchFile`, `notADirectory`, `permissionDenied`, `symbolicLinkLoop`
///   (more than 40 links) and others.
package func realPath(
    of path: FilePath, followsLast: Bool = true
) throws(FileError) -> FilePath {
    var resolver = try PathResolver(path)
    try resolver.resolve(followsLast: followsLast)
    return resolver.path
}

/// Returns the real path of an existing item without accessing anything below the mount point of a
/// network or FUSE filesystem, which may never respond.
///
/// - Returns: nil when the item does not exist, cannot be reached, or lies below such a mount
///   point.
package func realPath(of path: FilePath, notBeyond mounts: MountTable) -> FilePath? {
    do throws(FileError) {
        var resolver = try PathResolver(path)
        try resolver.resolve(notBeyond: mounts.remoteMountPoints)
        return resolver.path
    } catch {
        return nil
    }
}

extension MountTable {
    /// Whether accessing a path may block forever: as ``isRemote(_:)``, for paths that need not be
    /// real.
    package func mayBeSilent(_ path: FilePath) -> Bool {
        if remoteMountPoints.isEmpty { return false }
        do throws(FileError) {
            var resolver = try PathResolver(path)
            try resolver.resolve(notBeyond: remoteMountPoints)
            return isRemote(resolver.path)
        } catch {
            return error.errno == .hostIsDown
        }
    }
}

/// The kernel's own limit (`MAXSYMLINKS` in linux/namei.h).
private let mostSymbolicLinks = 40

/// Resolves a path by descriptor, one name at a time, including symbolic links.
///
/// Works on bytes: each step with a `FilePath` would traverse the whole path again, which is slow
/// for long paths.
struct PathResolver: ~Copyable {
    /// The path as given, for errors.
    private let given: FilePath
    /// The names from `/` to the file reached so far.
    private var resolved: [ArraySlice<UInt8>]
    private var file: OwnedDescriptor
    /// The names still to look up, in reverse order.
    private var pending: [ArraySlice<UInt8>]
    private var linkCount = 0
    /// The check of each step; nil when steps are not checked.
    private var check: StepCheck?

    /// - Parameter user: the uid to check each step from `/` for; nil to check none.
    init(_ path: FilePath, checkedFor user: UInt32? = nil) throws(FileError) {
        // The steps of a checked path begin at the root.
        let beginsAtRoot = user != nil || path.isAbsolute
        var start: [ArraySlice<UInt8>] = []
        let first = try calls(on: path, FileError.opening) { () throws(Errno) in
            if path.isEmpty { throw .noSuchFileOrDirectory }
            if !path.isAbsolute { start = try workingDirectory().names }
            return try OwnedDescriptor(openDirectoryReference(beginsAtRoot ? "/" : "."))
        }
        if let user {
            let status = try first.descriptor.named(path).fileStatus()
            check = StepCheck(user: user, status: status)
        }
        given = path
        resolved = beginsAtRoot ? [] : start
        pending = (beginsAtRoot ? start + path.names : path.names).reversed()
        file = first
    }

    var path: FilePath { FilePath(names: resolved) }

    /// Returns the status of the file reached, after the last check; nil when steps are not
    /// checked.
    ///
    /// - Throws: ``FileError`` `unsafePath`.
    func checkedStatus() throws(FileError) -> FileStatus? {
        do throws(UnsafeStep) {
            try check?.checkEnd()
        } catch {
            throw error.error(at: path)
        }
        return check?.status
    }

    /// Looks up the pending names.
    ///
    /// - Parameter ends: directories below which nothing is looked up: paths there fail with
    ///   `EHOSTDOWN`.
    mutating func resolve(
        followsLast: Bool = true, notBeyond ends: Set<FilePath> = []
    ) throws(FileError) {
        while let name = pending.popLast() {
            if !ends.isEmpty, ends.contains(path) { throw .opening(.hostIsDown, given) }
            try lookUp(name, followsLink: followsLast || !pending.isEmpty)
        }
    }

    private mutating func lookUp(
        _ name: ArraySlice<UInt8>, followsLink: Bool
    ) throws(FileError) {
        let isDot = name.elementsEqual(".".utf8)
        let isDoubleDot = name.elementsEqual("..".utf8)
        let next = try calls(on: given, FileError.opening) { () throws(Errno) in
            try OwnedDescriptor(openReference(FilePath(bytes: name), in: file.descriptor))
        }
        let target = try calls(on: given, FileError.opening) { () throws(Errno) in
            followsLink && !isDot && !isDoubleDot ? try linkTarget(of: next) : nil
        }
        if isDoubleDot {
            _ = resolved.popLast()
            if check != nil { return try goDownAgain() }
        } else if !isDot {
            try checkStep(to: next.descriptor, name, isFollowed: target != nil)
            if let target { return try follow(target) }
            resolved.append(name)
        }
        file = next
    }

    /// Returns the target of a symbolic link; nil when the file is not a link.
    private func linkTarget(of file: borrowing OwnedDescriptor) throws(Errno) -> FilePath? {
        do throws(Errno) {
            return try symbolicLinkTarget(file.descriptor)
        } catch .noSuchFileOrDirectory, .invalidArgument {
            // readlinkat(2) with an empty path fails with these for other kinds of files.
            return nil
        }
    }

    private mutating func checkStep(
        to item: FileDescriptor, _ name: ArraySlice<UInt8>, isFollowed: Bool
    ) throws(FileError) {
        guard check != nil else { return }
        let status = try calls(on: given, FileError.opening) { () throws(Errno) in
            try item.status()
        }
        do throws(UnsafeStep) {
            try check?.step(to: status, at: resolved.count, isFollowed: isFollowed)
        } catch {
            throw error.error(at: FilePath(names: resolved + [name]))
        }
    }

    /// Resolves the names again from `/`: the parent of a directory is chosen by the user who moved
    /// it there, so a step to `..` has to be checked from above.
    private mutating func goDownAgain() throws(FileError) {
        pending += resolved.reversed()
        try beginAtRoot()
    }

    private mutating func follow(_ target: FilePath) throws(FileError) {
        linkCount += 1
        guard linkCount <= mostSymbolicLinks else {
            throw .opening(.tooManySymbolicLinkLevels, given)
        }
        if target.isAbsolute { try beginAtRoot() }
        pending += target.names.reversed()
    }

    private mutating func beginAtRoot() throws(FileError) {
        resolved = []
        try calls(on: given, FileError.opening) { () throws(Errno) in
            file = try OwnedDescriptor(openDirectoryReference("/"))
            if check != nil { check?.status = try file.descriptor.status() }
        }
    }
}

private struct StepCheck {
    let user: UInt32
    /// The status of the file reached.
    var status: FileStatus
    /// Whether a link of the user's own was followed.
    var hasFollowedOwnLink = false

    /// - Parameter depth: the number of names that lead to the file reached.
    mutating func step(
        to item: FileStatus, at depth: Int, isFollowed: Bool
    ) throws(UnsafeStep) {
        let isOwnChoice = status.owner == user && !status.isWritableByOthers && item.owner == 0
        if !isOwnChoice { try UnsafeStep.check(from: status, at: depth, to: item) }
        guard isFollowed else {
            status = item
            return
        }
        try UnsafeStep.check(link: item, in: status, for: user)
        if item.owner != 0 { hasFollowedOwnLink = true }
    }

    func checkEnd() throws(UnsafeStep) {
        if hasFollowedOwnLink, status.owner != user { throw .linkToOthers }
    }
}

extension FilePath {
    /// The names between the slashes, as bytes, including `.` and `..`.
    var names: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"))
    }

    init(names: [ArraySlice<UInt8>]) {
        let slash = [UInt8(ascii: "/")]
        self.init(bytes: slash + names.joined(separator: slash))
    }
}
