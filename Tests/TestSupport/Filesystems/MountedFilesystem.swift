import Glibc
import SystemCalls
import SystemPackage
import Testing

/// A filesystem of a test, mounted.
package struct MountedFilesystem: Sendable {
    /// The kind of filesystem.
    package let kind: FilesystemKind
    /// Where it is mounted; every user may enter it.
    package let root: FilePath

    /// Changes the mount: `["ro"]` makes it read-only.
    package func remount(_ options: [String]) throws {
        let list = (["remount"] + options).joined(separator: ",")
        try tool("mount", "-o", list, root)
    }
}

/// Calls `body` with a new filesystem, mounted, and unmounts and removes it afterwards.
///
/// The image lies in a temporary directory and is mounted through a loop device that the kernel
/// frees with the mount. Where that cannot be, the test is skipped as ``require(_:sourceLocation:)``
/// says.
///
/// - Parameters:
///   - size: its size in bytes, where it has an image; nil for a small one.
///   - features: words for the program that makes it.
package func withFilesystem<Result>(
    _ kind: FilesystemKind, options: [String] = [], size: Int64? = nil, features: [String] = [],
    _ body: (MountedFilesystem) throws -> Result
) throws -> Result {
    try require(.filesystem(kind))
    return try mountAndCall(
        kind: kind, options: options, size: size, features: features, body)
}

/// Calls `body` with a filesystem that has an empty encrypted directory `vault`, and a function that locks
/// and unlocks it: `encrypt`, `lock` and `unlock` are the helper's words.
package func withEncryptedDirectory(
    _ body: (_ root: FilePath, _ vault: FilePath, _ turn: @escaping (String) throws -> Void)
        throws -> Void
) throws {
    try require(.tool("python3"))
    try withFilesystem(.ext4, features: ["-O", "encrypt"]) { filesystem in
        let vault = filesystem.root.appending("vault")
        func turn(_ word: String) throws { try tool("python3", fscryptHelper, word, vault) }
        try tool("mkdir", vault)
        try turn("encrypt")
        try body(filesystem.root, vault, turn)
    }
}

/// The program that encrypts directories.
package let fscryptHelper = packageRoot.appending("Tests/Helpers/fscrypt/fscrypt.py")

func mountAndCall<Result>(
    kind: FilesystemKind, options: [String], size: Int64? = nil, features: [String] = [],
    _ body: (MountedFilesystem) throws -> Result
) throws -> Result {
    try withTemporaryDirectory(containing: Tree { Directory("mount") }, isShared: true) { base in
        let image = base.appending("image")
        if let maker = kind.maker {
            try makeImage(at: image, size ?? kind.imageSize, maker + features)
        }
        guard kind == .overlayfs else {
            let source: FilePath = kind == .tmpfs ? "tmpfs" : image
            let all = (kind == .tmpfs ? ["size=32m", "mode=755"] : ["loop"]) + options
            return try mounted(source, kind, at: base.appending("mount"), all, body)
        }
        return try mounted(image, .ext4, at: base.appending("mount"), ["loop"]) { layers in
            try overlay(on: layers.root, options, body)
        }
    }
}

/// Mounts an overlay whose directories all lie in `base`.
private func overlay<Result>(
    on base: FilePath, _ options: [String], _ body: (MountedFilesystem) throws -> Result
) throws -> Result {
    let names = ["lower", "upper", "work", "merged"]
    try Tree { for name in names { Directory(FileName(Array(name.utf8))) } }.create(in: base)
    let directories = [
        "lowerdir=\(base)/lower", "upperdir=\(base)/upper", "workdir=\(base)/work",
    ]
    return try mounted(
        "overlay", .overlayfs, at: base.appending("merged"), directories + options, body)
}

private func makeImage(at image: FilePath, _ size: Int64, _ maker: [String]) throws {
    let file = try openFile(
        in: .workingDirectory, image, flags: [.writeOnly, .create, .exclusiveCreate],
        permissions: 0o600)
    let result = ftruncate(file.rawValue, Int(size))
    try closeFile(file)
    guard result == 0 else {
        throw FixtureError(call: "ftruncate", file: "\(image)", errno: Errno(rawValue: errno))
    }
    let arguments: [any CommandArgument] = Array(maker.dropFirst()) + [image]
    try tool(maker[0], arguments: arguments)
}

private func mounted<Result>(
    _ source: FilePath, _ kind: FilesystemKind, at directory: FilePath, _ options: [String],
    _ body: (MountedFilesystem) throws -> Result
) throws -> Result {
    let list = options.joined(separator: ",")
    try tool("mount", "-t", kind.kernelName, "-o", list, source, directory)
    let result: Result
    do {
        result = try body(MountedFilesystem(kind: kind, root: directory))
    } catch {
        try unmount(directory)
        throw error
    }
    try unmount(directory)
    return result
}

/// Unmounts, again for a while as long as the mount is busy: a command that another test is starting
/// holds every open descriptor until its program runs.
func unmount(_ directory: FilePath) throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while true {
        do {
            try tool("umount", directory)
            return
        } catch {
            guard ContinuousClock.now < deadline else { throw error }
            usleep(20_000)
        }
    }
}
