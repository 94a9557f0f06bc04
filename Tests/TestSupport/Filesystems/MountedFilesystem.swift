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

/// Makes a filesystem and mounts it; it is unmounted and removed when the test ends.
///
/// The image lies in a temporary directory and is mounted through a loop device that the kernel
/// frees with the mount. Where that cannot be, the test is skipped as ``require(_:sourceLocation:)``
/// says.
///
/// - Parameters:
///   - size: its size in bytes, where it has an image; nil for a small one.
///   - features: words for the program that makes it.
///   - items: what it holds at first.
package func filesystem(
    _ kind: FilesystemKind, options: [String] = [], size: Int64? = nil, features: [String] = [],
    @TreeBuilder containing items: () -> [any TreeItem] = { [] }
) throws -> MountedFilesystem {
    try require(.filesystem(kind))
    let filesystem = try newFilesystem(kind, options: options, size: size, features: features)
    try Tree(items).create(in: filesystem.root)
    return filesystem
}

/// Makes a filesystem that has an empty encrypted directory `vault`, and a function that locks and
/// unlocks it: `encrypt`, `lock` and `unlock` are the helper's words.
package func encryptedDirectory() throws -> (
    root: FilePath, vault: FilePath, turn: (String) throws -> Void
) {
    try require(.tool("python3"))
    let root = try filesystem(.ext4, features: ["-O", "encrypt"]).root
    let vault = root.appending("vault")
    func turn(_ word: String) throws { try tool("python3", fscryptHelper, word, vault) }
    try tool("mkdir", vault)
    try turn("encrypt")
    return (root, vault, turn)
}

/// The program that encrypts directories.
package let fscryptHelper = packageRoot.appending("Tests/Helpers/fscrypt/fscrypt.py")

func newFilesystem(
    _ kind: FilesystemKind, options: [String] = [], size: Int64? = nil, features: [String] = []
) throws -> MountedFilesystem {
    let base = try temporaryDirectory(containing: Tree { Directory("mount") }, isShared: true)
    let (image, point) = (base.appending("image"), base.appending("mount"))
    if let maker = kind.maker { try makeImage(at: image, size ?? kind.imageSize, maker + features) }
    guard kind == .overlayfs else {
        let source: FilePath = kind == .tmpfs ? "tmpfs" : image
        let all = (kind == .tmpfs ? ["size=32m", "mode=755"] : ["loop"]) + options
        return try mount(source, kind, at: point, all)
    }
    // All directories of the overlay lie on one filesystem.
    _ = try mount(image, .ext4, at: point, ["loop"])
    let names = ["lower", "upper", "work", "merged"]
    try Tree { for name in names { Directory("\(name)") } }.create(in: point)
    let directories = [
        "lowerdir=\(point)/lower", "upperdir=\(point)/upper", "workdir=\(point)/work",
    ]
    return try mount("overlay", .overlayfs, at: point.appending("merged"), directories + options)
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

private func mount(
    _ source: FilePath, _ kind: FilesystemKind, at directory: FilePath, _ options: [String]
) throws -> MountedFilesystem {
    let list = options.joined(separator: ",")
    try tool("mount", "-t", kind.kernelName, "-o", list, source, directory)
    try afterwards { try unmount(directory) }
    return MountedFilesystem(kind: kind, root: directory)
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
