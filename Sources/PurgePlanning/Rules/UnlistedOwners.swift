import EffectiveValues
import StoragePolicy
import Synchronization
import SystemCalls
import SystemPackage

/// The users whom `/etc/passwd` does not name and who own something that a search or a purge meets.
///
/// A name service is asked for each of them. One that it knows has a home like others, whose protected
/// directories are known from then on: a walk meets the home before what is in it. What belongs to any
/// other is kept.
final class UnlistedOwners: Sendable {
    private struct State {
        var isKnown: [UInt32: Bool] = [:]
        var accounts: [PasswordDatabase.Account] = []
        var locations: LocationIdentities?
    }

    /// The users who need no answer: those of `/etc/passwd`, the purging user and root.
    private let listed: Set<UInt32>
    private let makeLocations: @Sendable ([PasswordDatabase.Account]) -> LocationIdentities
    private let state = Monitor(State())
    private let hasLocations = Atomic<Bool>(false)

    /// - Parameters:
    ///   - listed: the users in `/etc/passwd`.
    ///   - user: the purging user.
    ///   - locations: returns the directories that further accounts protect.
    init(
        but listed: Set<UInt32>, _ user: UInt32,
        locations: @escaping @Sendable ([PasswordDatabase.Account]) -> LocationIdentities
    ) {
        self.listed = listed.union([0, user])
        makeLocations = locations
    }

    /// The directories that the homes found so far protect; nil while there are none.
    var locations: LocationIdentities? {
        guard hasLocations.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.locations }
    }

    /// Whether a user is known, here or to a name service.
    func isKnown(_ owner: UInt32) -> Bool {
        if listed.contains(owner) { return true }
        return state.withLock { state in
            if let known = state.isKnown[owner] { return known }
            let home = NameService.shared.home(of: owner)
            state.isKnown[owner] = home != nil
            guard let home else { return false }
            state.accounts.append(PasswordDatabase.Account(user: owner, home: home))
            state.locations = makeLocations(state.accounts)
            hasLocations.store(true, ordering: .releasing)
            return true
        }
    }
}
