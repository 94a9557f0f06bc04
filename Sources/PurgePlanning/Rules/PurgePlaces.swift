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
            guard let places = try? places(on: status.identity.device) else {
                return .unreadableSettings
            }
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

    private func places(on device: UInt64) throws(FileError) -> LocationIdentities {
        try known.withLock { known throws(FileError) in
            if let places = known[device] { return places }
            let places = LocationIdentities(
                environment, protected: try environment.protectedBySettings(),
                user: effectiveUser(), devices: [device])
            known[device] = places
            return places
        }
    }
}

extension PolicyEnvironment {
    /// Returns what the settings of backups protect.
    ///
    /// - Throws: ``FileError`` where they, or the user's directories for documents, are there and cannot be
    ///   read: what must stay is not known.
    func protectedBySettings() throws(FileError) -> [FilePath] {
        let unread = warnings.first { $0.cause == .unreadable && $0.setting == "user-dirs.dirs" }
        if let unread {
            throw FileError(
                code: .other,
                message: "cannot be read, so the directories for documents are not known",
                advice: "make it readable, or move it away", path: unread.path)
        }
        return try BackupRepositories.protected(base)
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
