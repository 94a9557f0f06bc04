import EffectiveValues
import SystemCalls
import SystemPackage

/// The mounts below the roots of a walk that show what is elsewhere, too: bind mounts and overlays.
struct RepeatedMounts: Sendable {
    /// The mounts, by number, whose content is counted elsewhere in the walk.
    private(set) var counted: Set<Int> = []
    /// The mounts, by number, whose content has another path outside the roots, and so stays when a
    /// directory above is deleted.
    private(set) var borrowed: Set<Int> = []

    /// Whatever the order of the walk is, the first of several mounts by path is counted.
    ///
    /// - Parameter roots: the real paths where the walk begins.
    init(_ mounts: MountTable, below roots: [FilePath]) {
        func isWalked(_ path: FilePath) -> Bool { roots.contains { path.isHeld(by: $0) } }
        let below = mounts.mounts.filter { mount in
            isWalked(mount.mountPoint) && !roots.contains(mount.mountPoint)
                && mounts.mount(holding: mount.mountPoint) == mount
        }.sorted { $0.mountPoint.string < $1.mountPoint.string }
        var parts = roots.compactMap { FilesystemPart($0, in: mounts) }
        var walked = Set(roots.compactMap { mounts.mount(holding: $0)?.number })
        for mount in below {
            if mount.filesystemType == "overlay" {
                let layers = mount.layers.map { realPath(of: $0, notBeyond: mounts) ?? $0 }
                if layers.contains(where: isWalked) {
                    counted.insert(mount.number)
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
            }
            if isMet || parts.contains(where: { $0.isIn(part) }) {
                counted.insert(mount.number)
            } else {
                parts.append(part)
                walked.insert(mount.number)
                if others.contains(where: { !isWalked($0) }) { borrowed.insert(mount.number) }
            }
        }
    }
}
