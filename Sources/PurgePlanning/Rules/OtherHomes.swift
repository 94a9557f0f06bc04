import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What is protected in the homes of all users.
enum OtherHomes {
    /// The directories for documents, settings, state and keys of homes, by the default names and by
    /// each home's own `user-dirs.dirs`: those in the home, and elsewhere those of the home's owner, since
    /// users have no say about what is not theirs. Homes on servers are not asked: they may never answer, and
    /// what lies there is never purged.
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

    /// Whether a directory lies in a home or belongs to the home's owner, wherever links lead.
    private static func isOwn(_ path: FilePath, of home: FilePath) -> Bool {
        do throws(Errno) {
            let owner = try path.status().owner
            let homeOwner = try home.status().owner
            // What is root's is everybody's: a home that anybody can write may be root's, too.
            if owner != 0, owner == homeOwner { return true }
            return isInside(path, home)
        } catch {
            // What is not there cannot be met; what cannot be looked up cannot be walked to.
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
            // The default names count all the same.
            return []
        }
    }
}
