import Glibc
import SystemCalls
import SystemPackage
import Testing

/// A filesystem of a test in an image of its own, which can be mounted anew.
package final class RemountedFilesystem: @unchecked Sendable {
    /// Where it is mounted; every user may enter it.
    package let root: FilePath
    private let kind: FilesystemKind
    private let base: FilePath
    private let maker: [String]
    private var loop = ""
    private var isMounted = false
    /// What takes the numbers that the filesystem had before.
    private var otherLoops: [String] = []
    private var otherMounts: [FilePath] = []

    fileprivate init(_ kind: FilesystemKind, _ maker: [String], in base: FilePath) throws {
        self.kind = kind
        self.maker = maker
        self.base = base
        root = base.appending("mount")
        try tool("truncate", "-s", "\(kind.imageSize)", image)
        try tool(maker[0], arguments: Array(maker.dropFirst()) + [image])
        try attach()
        try mount()
    }

    private var image: FilePath { base.appending("image") }

    /// The number of its device.
    package var device: UInt64 { get throws { try root.status().identity.device } }

    /// Unmounts it and mounts it with another device number, as a start of the machine may.
    package func remount() throws {
        let old = try device
        repeat {
            try unmount()
            try tool("losetup", "--detach", loop)
            // The lowest free numbers are given out first.
            let other = base.appending("other\(otherLoops.count)")
            try tool("truncate", "-s", "1M", other)
            otherLoops.append(try tool("losetup", "--find", "--show", other))
            let directory = base.appending("tmpfs\(otherMounts.count)")
            try tool("mkdir", directory)
            try tool("mount", "-t", "tmpfs", "tmpfs", directory)
            otherMounts.append(directory)
            try attach()
            try mount()
        } while try device == old
    }

    /// Mounts it as it would be after the power failed just now: without what was not written to its
    /// device. Nothing may be written meanwhile: a long interval of `commit=` delays what the
    /// filesystem writes by itself.
    package func losePower() throws {
        let copy = base.appending("copy")
        try tool("cp", "--sparse=always", image, copy)
        try unmount()
        try tool("losetup", "--detach", loop)
        try tool("mv", copy, image)
        try attach()
        try mount()
    }

    /// Changes it by a command of debugfs(8), while it is not mounted.
    package func change(_ command: String) throws {
        try unmount()
        try tool("debugfs", "-w", "-R", command, loop)
        try mount()
    }

    /// Puts an empty filesystem in its place, on the same device.
    package func replace() throws {
        try unmount()
        try tool(maker[0], arguments: Array(maker.dropFirst()) + [loop])
        try mount()
    }

    private func attach() throws { loop = try tool("losetup", "--find", "--show", image) }

    private func mount() throws {
        try tool("mount", "-t", kind.kernelName, loop, root)
        isMounted = true
    }

    /// Unmounts it in this mount namespace, and waits until no other has it any more.
    ///
    /// A process that another test starts in a namespace of its own has all mounts of that moment there
    /// until it ends.
    private func unmount() throws {
        try TestSupport.unmount(root)
        isMounted = false
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                // The kernel lends a block device to a mount or to one who opens it like this.
                try closeFile(
                    try openFile(
                        in: .workingDirectory, FilePath(loop),
                        flags: [.readOnly, .exclusiveCreate]))
                return
            } catch Errno.resourceBusy where ContinuousClock.now < deadline {
                usleep(20_000)
            }
        }
    }

    fileprivate func end() throws {
        if isMounted { try unmount() }
        for directory in otherMounts { try TestSupport.unmount(directory) }
        for device in otherLoops + [loop] { try tool("losetup", "--detach", device) }
    }
}

/// Makes a filesystem and mounts it; it is removed when the test ends.
///
/// Where that cannot be, the test is skipped as ``require(_:sourceLocation:)`` says.
package func remountedFilesystem(_ kind: FilesystemKind) throws -> RemountedFilesystem {
    try require(.filesystem(kind))
    let maker = try #require(kind.maker)
    let base = try temporaryDirectory(containing: Tree { Directory("mount") }, isShared: true)
    let filesystem = try RemountedFilesystem(kind, maker, in: base)
    try afterwards { try filesystem.end() }
    return filesystem
}
