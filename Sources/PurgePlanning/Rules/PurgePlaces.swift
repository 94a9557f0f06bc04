import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What purging says of marks that permit deletion, by where the marked items are.
public final class PurgePlaces: Sendable {
    private let environment: PolicyEnvironment
    /// The protected directories, by the device of the items asked about.
    private let known = Monitor<[UInt64: LocationIdentities]>([:])

    /// Creates places that are looked up when the first marked item is asked about.
    public init(_ environment: PolicyEnvironment) { self.environment = environment }

    /// Returns why a mark on an item does not count; nil if it does. An item that cannot be reached is
    /// not purged either.
    ///
    /// - Parameter path: absolute; the item itself may be a symbolic link.
    public func objection(to path: FilePath) -> PurgeObjection? {
        do throws(FileError) {
            let real = try realPath(of: path, followsLast: false)
            let status = try real.withoutFollowing.fileStatus()
            let places = places(on: status.identity.device)
            if places.isProtected(real) { return .protectedDirectory }
            if places.pathsToProtected.contains(status.identity) { return .holdsProtected }
            let isFilledByOthers = real.components.dropLast().contains {
                UntrustedDirectories.contains($0.bytes)
            }
            return isFilledByOthers || status.isWritableByOthers ? .untrustedMark : nil
        } catch {
            return .untrustedMark
        }
    }

    private func places(on device: UInt64) -> LocationIdentities {
        known.withLock { known in
            let places =
                known[device]
                ?? LocationIdentities(
                    environment, protected: BackupRepositories.protected(environment.base),
                    user: effectiveUser(), devices: [device])
            known[device] = places
            return places
        }
    }
}

extension StoragePolicy {
    /// Returns the policy that says of a mark that permits deletion what purging says of it.
    public func heeding(_ places: PurgePlaces) -> StoragePolicy {
        var policy = self
        policy.objection = { places.objection(to: $0) }
        return policy
    }
}
