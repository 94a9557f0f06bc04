import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Keeps marks that are not confirmed away from `/`, homes and directories above them, since a mark there
/// counts for nearly all files of a user.
struct HomeGuard {
    /// Whether changes are allowed without a question.
    let isConfirmed: Bool
    // Without the file there are no other homes to know of.
    private lazy var accounts = PasswordDatabase(
        contents: (try? contentsOfFile("/etc/passwd")) ?? [])
    private lazy var homes = Self.homes(of: accounts)

    init(isConfirmed: Bool) { self.isConfirmed = isConfirmed }

    /// Returns whether an item may be changed; if it may not, says why.
    ///
    /// - Parameter status: the item's status; nil if it cannot be read.
    mutating func allows(
        _ item: borrowing ListedPath, _ status: FileStatus?, _ outcome: Outcome
    ) -> Bool {
        guard !isConfirmed, let status, let meaning = meaning(of: item.path, status) else {
            return true
        }
        let path = Array(item.bytes)
        guard Messages.canAsk else {
            outcome.report(about: path, "\(meaning) (give --yes to change it)")
            return false
        }
        if Messages.confirm(about: path, meaning) { return true }
        Messages.write(about: path, "not changed")
        outcome.noteNo()
        return false
    }

    /// Checks that a mark that was not given with the name of the item, as one of another item or program,
    /// may be stored on it.
    ///
    /// - Throws: ``FileError`` for `/`, a home and a directory above one.
    static func check(
        _ path: FilePath, shownAs shown: FilePath, _ status: FileStatus
    ) throws(FileError) {
        var homes = HomeGuard(isConfirmed: false)
        guard let meaning = homes.meaning(of: path, status) else { return }
        throw FileError(
            code: .other, message: meaning, advice: "to store it: resval set --yes", path: shown)
    }

    /// What a mark on the item means; nil if that is neither `/`, a home nor above one.
    private mutating func meaning(of path: FilePath, _ status: FileStatus) -> String? {
        // Most items are files.
        guard status.kind == .directory,
            let name = name(of: path, status.identity) ?? nameOfUnlisted(path, status)
        else { return nil }
        return "is \(name): a mark on it counts for everything in it"
    }

    private mutating func name(of item: FilePath, _ identity: FileIdentity) -> String? {
        if Self.identity(of: "/") == identity { return "the root directory" }
        let names = [item.lastComponent, (try? realPath(of: item))?.lastComponent]
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

    /// What the directory of another user is whom `/etc/passwd` does not name: a home if a name service
    /// says so or, without an answer, if it is the topmost directory of the user.
    private mutating func nameOfUnlisted(_ item: FilePath, _ status: FileStatus) -> String? {
        let owner = status.owner
        guard owner != 0, owner != effectiveUser(), !accounts.users.contains(owner),
            let path = try? realPath(of: item)
        else { return nil }
        if let home = NameService.shared.home(of: owner) {
            return Self.identity(of: home) == status.identity ? "a home" : nil
        }
        guard !NameService.shared.isSubordinate(owner),
            !fixedTemporaryDirectories.contains(where: { path.isHeld(by: $0) })
        else { return nil }
        return topmostDirectory(of: owner, on: path) == path
            ? "the topmost directory of a user who is not known here, perhaps a home" : nil
    }

    private static func identity(of path: FilePath) -> FileIdentity? {
        (try? path.status())?.identity
    }

    /// The homes of this user, of root and of the accounts of people.
    private static func homes(of accounts: PasswordDatabase) -> [(path: FilePath, isOwn: Bool)] {
        var homes: [(path: FilePath, isOwn: Bool)] = []
        if let own = currentBaseDirectories().home { homes.append((own, true)) }
        let user = effectiveUser()
        for account in accounts.accounts
        where account.user == 0 || account.user == user || account.user >= firstUserOfPeople {
            homes.append((account.home, account.user == user))
        }
        return homes
    }
}

/// The lowest uid of accounts that are not those of services, as in most `login.defs`.
private let firstUserOfPeople: UInt32 = 1000
