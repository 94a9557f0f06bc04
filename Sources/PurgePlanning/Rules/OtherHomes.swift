import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The protected directories in the homes of all users.
enum OtherHomes {
    /// Returns the homes' directories for documents, settings, state and keys, by the default names
    /// and by each home's own `user-dirs.dirs`.
    ///
    /// A directory outside the home counts only if it belongs to the home's owner: users cannot
    /// protect what is not theirs. Homes on remote filesystems are skipped: they may never answer,
    /// and nothing on them is purged.
    static func protectedRoots(_ base: BaseDirectories, _ mounts: MountTable) -> [FilePath] {
        func isLocal(_ path: FilePath) -> Bool {
            realPath(of: path, notBeyond: mounts).map { !mounts.isRemote($0) } ?? false
        }
        let accounts = Dictionary(grouping: Set(base.accounts), by: \.home)
        return Set(base.homes).filter { isLocal($0) }.flatMap { home in
            let configured = accounts[home, default: []].flatMap { account in
                UserDirectories(contents: settings(of: account), home: home).paths.values
            }
            return (configured + names.map { home.appending($0) }).filter {
                isLocal($0) && isOwn($0, of: home)
            }
        }
    }

    /// Whether a directory, with symbolic links resolved, lies in a home or belongs to the home's
    /// owner.
    private static func isOwn(_ path: FilePath, of home: FilePath) -> Bool {
        do throws(Errno) {
            let owner = try path.status().owner
            let homeOwner = try home.status().owner
            // Ownership by root does not count: a home that anybody can write may belong to root,
            // too.
            if owner != 0, owner == homeOwner { return true }
            return isInside(path, home)
        } catch {
            // The walk cannot reach what does not exist or cannot be looked up.
            return false
        }
    }

    private static func isInside(_ path: FilePath, _ home: FilePath) -> Bool {
        do throws(FileError) {
            let (real, realHome) = (try realPath(of: path), try realPath(of: home))
            return real != realHome && real.isHeld(by: realHome)
        } catch {
            return false
        }
    }

    private static let names =
        UserDirectories.defaultNames + [".ssh", ".gnupg", ".config", ".local/state"]

    private static func settings(of account: PasswordDatabase.Account) -> [UInt8] {
        do throws(Errno) {
            return try contentsOfFile(
                ".config/user-dirs.dirs", below: account.home, ownedBy: account.user,
                limit: settingsLimit)
        } catch {
            // The default names still count.
            return []
        }
    }
}
