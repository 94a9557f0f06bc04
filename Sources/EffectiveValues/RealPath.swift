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
    do throws(Errno) {
        return try PathResolver.resolve(path, followsLast: followsLast)
    } catch {
        throw .opening(error, path)
    }
}

/// The kernel's own limit (`MAXSYMLINKS` of linux/namei.h).
private let mostSymbolicLinks = 40

/// Works on bytes: every step with a `FilePath` goes over the whole path again, which long paths would
/// feel.
private struct PathResolver: ~Copyable {
    /// The names that lead from `/` to the file reached so far.
    private var resolved: [ArraySlice<UInt8>]
    private var file: PathDescriptor
    /// The names still to look up, the next one last.
    private var pending: [ArraySlice<UInt8>]
    private var linkCount = 0

    static func resolve(_ path: FilePath, followsLast: Bool) throws(Errno) -> FilePath {
        guard !path.isEmpty else { throw .noSuchFileOrDirectory }
        var resolver = try PathResolver(path)
        while let name = resolver.pending.popLast() {
            let isLast = resolver.pending.isEmpty
            try resolver.lookUp(name, followsLink: followsLast || !isLast)
        }
        return FilePath(names: resolver.resolved)
    }

    private init(_ path: FilePath) throws(Errno) {
        let start = path.isAbsolute ? [] : try workingDirectory().names
        self.init(
            resolved: start, file: try PathDescriptor(path.isAbsolute ? "/" : "."),
            pending: path.names.reversed())
    }

    private init(
        resolved: [ArraySlice<UInt8>], file: consuming PathDescriptor,
        pending: [ArraySlice<UInt8>]
    ) {
        self.resolved = resolved
        self.file = file
        self.pending = pending
    }

    private mutating func lookUp(
        _ name: ArraySlice<UInt8>, followsLink: Bool
    ) throws(Errno) {
        let next = try PathDescriptor(in: file, FilePath(bytes: name))
        if name.elementsEqual("..".utf8) {
            _ = resolved.popLast()
        } else if !name.elementsEqual(".".utf8) {
            if followsLink, let target = try next.symbolicLinkTarget() {
                return try follow(target)
            }
            resolved.append(name)
        }
        file = next
    }

    private mutating func follow(_ target: FilePath) throws(Errno) {
        linkCount += 1
        guard linkCount <= mostSymbolicLinks else { throw .tooManySymbolicLinkLevels }
        if target.isAbsolute {
            file = try PathDescriptor("/")
            resolved = []
        }
        pending += target.names.reversed()
    }
}
