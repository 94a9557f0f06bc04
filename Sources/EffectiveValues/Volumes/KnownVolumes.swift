import SystemCalls
import SystemPackage

/// The volumes that this process has asked about, so that a fact about one needs no list of all
/// mounts.
///
/// A volume is known by the identity of its mount, which no other mount ever has, so another one is
/// never mistaken for it: not after it was unmounted, not in another namespace, and not in a child
/// process. Nothing has to be watched, and no descriptor is kept.
///
/// The mount point of a kept volume can have changed: it counts if it still leads to the root of the
/// mount, in the view of the calling thread. What else can change, the source and the options, is not
/// answered from here.
package enum KnownVolumes {
    /// Returns the volume of a file; nil where the mount cannot be determined.
    ///
    /// The source of its mount may be outdated; see ``volumeRead(holding:)``.
    package static func volume(holding file: borrowing some FileLocation & ~Copyable) -> Volume? {
        guard let identity = (try? file.mountIdentity()) ?? nil else {
            return volumeRead(holding: file)
        }
        if let kept = kept.withLock({ $0[identity.number] }), kept.isAtMountPoint(identity.number) {
            return kept
        }
        return withReference(to: file) { item in
            let volume = Volume(holding: item.status)
            // The devices of btrfs, which change while it is mounted, are found by its source.
            if let volume, let identity = item.mount, volume.mount.filesystemType != "btrfs" {
                keep(volume, identity.number)
            }
            return volume
        }
    }

    /// Returns the volume of a file from the list of mounts, which is read anew; nil as
    /// ``volume(holding:)``.
    package static func volumeRead(
        holding file: borrowing some FileLocation & ~Copyable
    ) -> Volume? {
        withReference(to: file) { Volume(holding: $0.status) }
    }

    private static func keep(_ volume: Volume, _ number: UInt64) {
        kept.withLock { volumes in
            if volumes.count >= mostVolumes { volumes = [:] }
            volumes[number] = volume
        }
    }

    private static let kept = Monitor<[UInt64: Volume]>([:])
    private static let mostVolumes = 500
}

extension Volume {
    fileprivate func isAtMountPoint(_ number: UInt64) -> Bool {
        guard let found = (try? mount.mountPoint.withoutFollowing.mountIdentity()) ?? nil
        else { return false }
        return found.number == number && found.isRoot
    }
}

/// Calls `body` with the status and the mount of a file while it is open, so that no other mount
/// gets the ID of its mount; nil where it cannot be reached.
private func withReference(
    to file: borrowing some FileLocation & ~Copyable,
    _ body: ((status: FileStatus, mount: MountIdentity?)) -> Volume?
) -> Volume? {
    guard let item = try? OwnedDescriptor(openReference(to: file)) else { return nil }
    // Open to the end, and not only until its last use.
    defer { withExtendedLifetime(item) {} }
    guard let status = try? item.descriptor.status() else { return nil }
    return body((status, (try? item.descriptor.mountIdentity()) ?? nil))
}
