import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The places that rules name, by device and inode: so a bind mount or another name of one is
/// recognised wherever a walk meets it.
struct IdentifiedPlaces: Sendable {
    /// Directories that are never deleted, nor anything below them.
    private(set) var protectedRoots: Set<FileIdentity> = []
    /// Homes, locations, and the directories above them and above what is protected.
    private(set) var pathsToProtected: Set<FileIdentity> = []
    /// Where a location ends: homes, and locations whose content does not go for being there.
    private(set) var cutOuts: Set<FileIdentity> = []
    /// The directories for temporary files and for caches.
    private(set) var locations: [FileIdentity: PurgeContext.Place] = [:]
    private let protectedParts: [FilesystemPart]
    private let mounts: MountTable
    private let longKeeping: FilePath?

    /// - Parameters:
    ///   - environment: what tells the places.
    ///   - given: what else is protected.
    ///   - user: who deletes; root's protected directories are those of every home.
    ///   - device: the device whose files a walk will meet.
    init(
        _ environment: PolicyEnvironment, protected given: [FilePath] = [], user: UInt32,
        device: UInt64
    ) {
        let places = environment.locations
        let mounts = environment.mounts
        self.mounts = mounts
        var protected = places.protectedRoots + given
        if user == 0 { protected += OtherHomes.protectedRoots(environment.base, mounts) }
        longKeeping = realPath(of: "/var/tmp", notBeyond: mounts)
        // What does not exist, or lies beyond a mount that purging does not enter, cannot be met.
        let realRoots = protected.compactMap { realPath(of: $0, notBeyond: mounts) }
        protectedParts = realRoots.compactMap { FilesystemPart($0, in: mounts) }
        for (root, status) in realRoots.compactMap({ found($0) }) {
            protectedRoots.insert(status.identity)
            if let twin = snapshotTwin(of: root, status, on: device) { protectedRoots.insert(twin) }
        }
        for location in places.locations {
            // A location that leads elsewhere by now is none.
            guard found(location.path) != nil, let item = try? NamedItem(at: location.path),
                item.path == location.path,
                let place = place(of: location)
            else { continue }
            locations[item.status.identity] = place
        }
        let locationPaths = places.locations.map(\.path)
        for path in realRoots + places.homes + locationPaths {
            for ancestor in Self.ancestors(of: path) { add(pathToProtected: ancestor) }
        }
        for path in places.homes + locationPaths { add(pathToProtected: path) }
        for path in places.homes + places.locations.filter(\.kind.isBackedUp).map(\.path) {
            if let (_, status) = found(path) { cutOuts.insert(status.identity) }
        }
    }

    /// What a location holds; nil for one whose content does not go for being there.
    func place(of location: StorageLocation) -> PurgeContext.Place? {
        switch location.kind {
        case .temporary:
            .temporary(keepsLonger: longKeeping.map { location.path.isHeld(by: $0) } ?? false)
        case .caches: .caches([])
        case .applicationSupport, .documents: nil
        }
    }

    /// Whether a path is a protected directory or lies in one, by whatever mount it is reached.
    ///
    /// - Parameter path: a real path.
    func isProtected(_ path: FilePath) -> Bool {
        if let part = FilesystemPart(path, in: mounts),
            protectedParts.contains(where: { part.isIn($0) })
        {
            return true
        }
        return (Self.ancestors(of: path) + [path]).contains { path in
            found(path).map { protectedRoots.contains($0.1.identity) } ?? true
        }
    }

    /// What a directory would be in a snapshot of its subvolume: btrfs gives each one a device of its
    /// own and leaves the inode numbers alone.
    ///
    /// The roots of all subvolumes have the same number, which tells nothing.
    private func snapshotTwin(
        of path: FilePath, _ status: FileStatus, on device: UInt64
    ) -> FileIdentity? {
        guard status.identity.device != device, status.identity.inode != subvolumeRoot,
            mounts.mount(holding: path)?.filesystemType == "btrfs"
        else { return nil }
        return FileIdentity(device: device, inode: status.identity.inode)
    }

    private mutating func add(pathToProtected path: FilePath) {
        if let (_, status) = found(path) { pathsToProtected.insert(status.identity) }
    }

    private func found(_ path: FilePath) -> (FilePath, FileStatus)? {
        // No walk comes there, and it may never answer.
        if mounts.mayBeSilent(path) { return nil }
        do throws(Errno) {
            return (path, try path.status())
        } catch {
            // What is not there cannot be met; what cannot be looked up cannot be walked to.
            return nil
        }
    }

    private static func ancestors(of path: FilePath) -> [FilePath] {
        var ancestors: [FilePath] = []
        var next = path
        while next.removeLastComponent() { ancestors.append(next) }
        return ancestors
    }
}

/// The inode number of every subvolume's root on btrfs.
private let subvolumeRoot: UInt64 = 256
