import SystemCalls
import SystemPackage

/// A part of a filesystem, identified by device and by path within it, the same through every
/// mount.
package struct FilesystemPart: Sendable, Hashable {
    private let device: UInt64
    private let path: FilePath

    /// Creates the part at a path; nil when the table does not contain the path's mount.
    ///
    /// - Parameter real: a real path, as seen by the process whose mount table this is.
    package init?(_ real: FilePath, in mounts: MountTable) {
        guard let mount = mounts.mount(holding: real) else { return nil }
        self.init(real, on: mount)
    }

    /// Creates the part that a mount shows.
    package init(of mount: Mount) {
        device = mount.device
        path = mount.root
    }

    /// Creates the part that a mount covers; nil when that is not visible in the table.
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

    /// Whether this part is `other` or lies in it.
    package func isIn(_ other: FilesystemPart) -> Bool {
        device == other.device && path.isHeld(by: other.path)
    }

    /// Returns the paths that lead to the part, as seen by the process whose mount table this is.
    package func paths(in mounts: MountTable) -> [FilePath] {
        mounts.mounts.filter { $0.device == device && path.isHeld(by: $0.root) }.map { mount in
            mount.mountPoint.appending(path.components.dropFirst(mount.root.components.count))
        }
    }
}
