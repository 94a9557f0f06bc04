import StoragePolicy
import SystemCalls
import SystemPackage

/// The places that rules name, by device and inode: so a bind mount or another name of one is
/// recognised wherever a walk meets it.
struct IdentifiedPlaces: Sendable {
    private(set) var protectedRoots: Set<FileIdentity> = []
    private(set) var pathsToProtected: Set<FileIdentity> = []
    private(set) var locations: [FileIdentity: StorageLocation.Kind] = [:]

    init(_ places: StorageLocations) {
        for root in places.protectedRoots {
            if let identity = Self.identity(root) { protectedRoots.insert(identity) }
        }
        for location in places.locations where !location.kind.isBackedUp {
            if let identity = Self.identity(location.path) { locations[identity] = location.kind }
        }
        let ends = places.protectedRoots + places.homes + places.locations.map(\.path)
        for path in ends {
            for ancestor in Self.ancestors(of: path) {
                if let identity = Self.identity(ancestor) { pathsToProtected.insert(identity) }
            }
        }
        for home in places.homes + places.locations.map(\.path) {
            if let identity = Self.identity(home) { pathsToProtected.insert(identity) }
        }
    }

    private static func identity(_ path: FilePath) -> FileIdentity? {
        do throws(Errno) {
            return try path.status().identity
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
