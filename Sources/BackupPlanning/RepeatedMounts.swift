import EffectiveValues
import SystemCalls
import SystemPackage

/// The mounts below the roots of a walk that show what is elsewhere, too: bind mounts and overlays.
package struct RepeatedMounts: Sendable {
    /// The mount points, by the mount's number, whose content the walk meets elsewhere, too.
    private var repeated: [Int: FilePath] = [:]
    /// The mounts, by number, whose content has another path outside the roots.
    private var borrowed: Set<Int> = []

    /// Whatever the order of the walk is, the first of several mounts by path is not repeated.
    ///
    /// - Parameters:
    ///   - roots: the real paths where the walk begins.
    ///   - counts: whether the content counts at another path, which is below a root.
    package init(
        _ mounts: MountTable, below roots: [FilePath],
        where counts: (FilePath) -> Bool = { _ in true }
    ) {
        func isWalked(_ path: FilePath) -> Bool { roots.contains { path.isHeld(by: $0) } }
        let below = mounts.mounts.filter { mount in
            isWalked(mount.mountPoint) && !roots.contains(mount.mountPoint)
                && mounts.mount(holding: mount.mountPoint) == mount
        }.sorted { $0.mountPoint.string < $1.mountPoint.string }
        var parts = roots.compactMap { FilesystemPart($0, in: mounts) }
        var walked = Set(roots.compactMap { mounts.mount(holding: $0)?.number })
        for mount in below {
            if mount.filesystemType == "overlay" {
                let isRepeated = mount.layers.allSatisfy { layer in
                    // Of a relative path, and one of another mount namespace, nothing is known.
                    guard layer.isAbsolute, let real = realPath(of: layer, notBeyond: mounts) else {
                        return false
                    }
                    return isWalked(real) && counts(real)
                }
                if isRepeated, !mount.layers.isEmpty {
                    repeated[mount.number] = mount.mountPoint
                } else {
                    borrowed.insert(mount.number)
                }
                continue
            }
            let part = FilesystemPart(of: mount)
            // Another path counts only if no other filesystem is mounted over it.
            let others = part.paths(in: mounts).filter {
                $0 != mount.mountPoint && FilesystemPart($0, in: mounts) == part
            }
            let isMet = others.contains { path in
                isWalked(path)
                    && mounts.mount(holding: path).map { walked.contains($0.number) } == true
                    && counts(path)
            }
            if isMet || parts.contains(where: { $0.isIn(part) }) {
                repeated[mount.number] = mount.mountPoint
            } else {
                parts.append(part)
                walked.insert(mount.number)
                if others.contains(where: { !isWalked($0) }) { borrowed.insert(mount.number) }
            }
        }
    }

    /// The mount points whose content the walk meets elsewhere, too.
    package var repeatedPaths: [FilePath] { repeated.values.sorted { $0.string < $1.string } }

    /// Whether an item below a root is a mount point whose content the walk meets elsewhere, too.
    package func isRepeated(_ status: FileStatus) -> Bool {
        status.isMountRoot == true && status.mountNumber.map { repeated[$0] != nil } == true
    }

    /// Whether an item below a root is a mount point whose content stays when a directory above is
    /// deleted.
    package func isBorrowed(_ status: FileStatus) -> Bool {
        status.isMountRoot == true && status.mountNumber.map { borrowed.contains($0) } == true
    }
}
