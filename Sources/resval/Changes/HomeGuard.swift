import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Asks before marks are changed on `/`, a home or a directory above one, since a mark there counts for nearly
/// all files of a user.
struct HomeGuard {
    /// Whether changes are allowed without a question.
    let isConfirmed: Bool
    private lazy var homes = Self.homes()

    init(isConfirmed: Bool) { self.isConfirmed = isConfirmed }

    /// Returns whether an item may be changed; if it may not, says why.
    ///
    /// - Parameter status: the item's status; nil if it cannot be read.
    mutating func allows(
        _ item: borrowing ListedPath, _ status: FileStatus?, _ outcome: Outcome
    ) -> Bool {
        // Most items are files.
        guard !isConfirmed, let status, status.kind == .directory,
            let name = name(of: item, status.identity)
        else { return true }
        let path = Array(item.bytes)
        let meaning = "is \(name): a mark on it counts for everything in it"
        guard Messages.canAsk else {
            outcome.report(about: path, "\(meaning) (give --yes to change it)")
            return false
        }
        if Messages.confirm(about: path, meaning) { return true }
        Messages.write(about: path, "not changed")
        outcome.noteNo()
        return false
    }

    /// What the directory is, in words; nil if it is neither `/`, a home nor above one.
    private mutating func name(
        of item: borrowing ListedPath, _ identity: FileIdentity
    ) -> String? {
        if Self.identity(of: "/") == identity { return "the root directory" }
        let names = [item.path.lastComponent, (try? realPath(of: item.path))?.lastComponent]
        for home in homes {
            var path = home.path
            while path.lastComponent != nil {
                // Homes of other people may be on filesystems that never respond: they are looked
                // at only if the names agree.
                if home.isOwn || names.contains(path.lastComponent),
                    Self.identity(of: path) == identity
                {
                    return path == home.path ? "a home" : "a directory above a home"
                }
                path.removeLastComponent()
            }
        }
        return nil
    }

    private static func identity(of path: FilePath) -> FileIdentity? {
        (try? path.status())?.identity
    }

    /// The homes of this user, of root and of the accounts of people.
    private static func homes() -> [(path: FilePath, isOwn: Bool)] {
        var homes: [(path: FilePath, isOwn: Bool)] = []
        if let own = currentBaseDirectories().home { homes.append((own, true)) }
        // Without the file there are no other homes to know of.
        let contents = (try? contentsOfFile("/etc/passwd")) ?? []
        let user = effectiveUser()
        for account in PasswordDatabase(contents: contents).accounts
        where account.user == 0 || account.user == user || account.user >= firstUserOfPeople {
            homes.append((account.home, account.user == user))
        }
        return homes
    }
}

/// The lowest uid of accounts that are not those of services, as in most `login.defs`.
private let firstUserOfPeople: UInt32 = 1000
