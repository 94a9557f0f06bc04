import SystemCalls
import SystemPackage

/// A file by the filesystem it lies on and its path there, which is the same for all mounts.
package struct FilesystemPart: Sendable, Hashable {
    private let device: UInt64
    private let path: FilePath

    /// - Parameter real: a real path, as the process sees it that the table is of.
    package init?(_ real: FilePath, in mounts: MountTable) {
        guard let mount = mounts.mount(holding: real) else { return nil }
        self.init(real, on: mount)
    }

    /// What a mount shows.
    package init(of mount: Mount) {
        device = mount.device
        path = mount.root
    }

    /// What a mount is mounted over; nil when that is out of sight.
    package init?(beneath mount: Mount, in mounts: MountTable) {
        guard let parent = mounts.mount(numbered: mount.parent), parent != mount,
            mount.mountPoint.isHeld(by: parent.mountPoint)
        else { return nil }
        self.init(mount.mountPoint, on: parent)
    }

    private init(_ path: FilePath, on mount: Mount) {
        device = mount.device
        let below = path.components.dropFirst(mount.mountPoint.components.count)
        self.path = mount.root.appending(below)
    }

    /// Whether it is another part, or lies in it.
    package func isIn(_ other: FilesystemPart) -> Bool {
        device == other.device && path.isHeld(by: other.path)
    }

    /// The paths that lead to it, as the process sees it that the table is of.
    package func paths(in mounts: MountTable) -> [FilePath] {
        mounts.mounts.filter { $0.device == device && path.isHeld(by: $0.root) }.map { mount in
            mount.mountPoint.appending(path.components.dropFirst(mount.root.components.count))
        }
    }
}
