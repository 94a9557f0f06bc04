import SystemCalls
import SystemPackage

/// The path that leads to a file without any symbolic link, `.` or `..`.
///
/// Looked up one name after the other by descriptor, so neither the path nor its result is limited
/// to `PATH_MAX`. Costs about three system calls per name.
///
/// - Parameters:
///   - path: absolute, or from the working directory.
///   - followsLast: whether a symbolic link at the end is followed; otherwise the result is the real
///     path of the link itself.
/// - Throws: ``FileError``: `noSuchFile`, `notADirectory`, `permissionDenied`, `symbolicLinkLoop`
///   (more than 40 links) and others.
public func realPath(
    of path: FilePath, followsLast: Bool = true
) throws(FileError) -> FilePath {
    var resolver = try PathResolver(path)
    try resolver.resolve(followsLast: followsLast)
    return resolver.path
}

/// The real path of what is there, without a look at what servers, or programs behind FUSE mounts, answer
/// for: they may never do so.
///
/// - Returns: nil when nothing is there, it cannot be reached, or lies below such a mount's top.
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
    /// As ``isRemote(_:)``, for any path.
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

/// The kernel's own limit (`MAXSYMLINKS` of linux/namei.h).
private let mostSymbolicLinks = 40

/// Goes down a path by descriptor, one name after the other, and resolves symbolic links itself.
///
/// Works on bytes: every step with a `FilePath` goes over the whole path again, which long paths would
/// feel.
struct PathResolver: ~Copyable {
    /// The path that was given, which errors name.
    private let given: FilePath
    /// The names that lead from `/` to the file reached so far.
    private var resolved: [ArraySlice<UInt8>]
    private var file: OwnedDescriptor
    /// The names still to look up, the next one last.
    private var pending: [ArraySlice<UInt8>]
    private var linkCount = 0
    /// Checks each step; nil where every way is followed.
    private var check: StepCheck?

    /// - Parameter user: who acts on what is reached, where each step from `/` is checked; nil where
    ///   every way is followed.
    init(_ path: FilePath, checkedFor user: UInt32? = nil) throws(FileError) {
        do throws(Errno) {
            guard !path.isEmpty else { throw .noSuchFileOrDirectory }
            let start = path.isAbsolute ? [] : try workingDirectory().names
            if let user {
                let root = try OwnedDescriptor(openDirectoryReference("/"))
                let check = StepCheck(user: user, status: try root.descriptor.status())
                self.init(path, at: root, [], (start + path.names).reversed(), check)
            } else {
                let first = try OwnedDescriptor(openDirectoryReference(path.isAbsolute ? "/" : "."))
                self.init(path, at: first, start, path.names.reversed(), nil)
            }
        } catch {
            throw .opening(error, path)
        }
    }

    private init(
        _ given: FilePath, at file: consuming OwnedDescriptor, _ resolved: [ArraySlice<UInt8>],
        _ pending: [ArraySlice<UInt8>], _ check: StepCheck?
    ) {
        self.given = given
        self.file = file
        self.resolved = resolved
        self.pending = pending
        self.check = check
    }

    /// The real path of what was reached.
    var path: FilePath { FilePath(names: resolved) }

    /// What was reached, once each step to it was checked.
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

    /// - Parameter ends: directories nothing below which is looked up; `EHOSTDOWN` for what lies there.
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
        let next: OwnedDescriptor
        do throws(Errno) {
            next = try OwnedDescriptor(openReference(FilePath(bytes: name), in: file.descriptor))
        } catch {
            throw .opening(error, given)
        }
        let target: FilePath?
        do throws(Errno) {
            target = followsLink && !isDot && !isDoubleDot ? try linkTarget(of: next) : nil
        } catch {
            throw .opening(error, given)
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

    /// Where a symbolic link leads; nil when the file is none.
    private func linkTarget(of file: borrowing OwnedDescriptor) throws(Errno) -> FilePath? {
        do throws(Errno) {
            return try symbolicLinkTarget(file.descriptor)
        } catch .noSuchFileOrDirectory, .invalidArgument {
            // What readlinkat(2) with an empty path answers for other kinds of files.
            return nil
        }
    }

    private mutating func checkStep(
        to item: FileDescriptor, _ name: ArraySlice<UInt8>, isFollowed: Bool
    ) throws(FileError) {
        guard check != nil else { return }
        let status: FileStatus
        do throws(Errno) {
            status = try item.status()
        } catch {
            throw .opening(error, given)
        }
        do throws(UnsafeStep) {
            try check?.step(to: status, isFollowed: isFollowed)
        } catch {
            throw error.error(at: FilePath(names: resolved + [name]))
        }
    }

    /// What lies above a directory is chosen by who moves it: the way there is gone again.
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
        do throws(Errno) {
            file = try OwnedDescriptor(openDirectoryReference("/"))
            if check != nil { check?.status = try file.descriptor.status() }
        } catch {
            throw .opening(error, given)
        }
    }
}

/// What is known of the way gone so far, where each step is checked.
private struct StepCheck {
    let user: UInt32
    /// The status of the file reached.
    var status: FileStatus
    /// Whether a link of the user's own was followed.
    var hasFollowedOwnLink = false

    mutating func step(to item: FileStatus, isFollowed: Bool) throws(UnsafeStep) {
        try UnsafeStep.check(from: status, to: item)
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
