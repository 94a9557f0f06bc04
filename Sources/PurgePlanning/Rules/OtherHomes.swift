import StoragePolicy
import SystemCalls
import SystemPackage

/// What is protected in the homes of all users.
enum OtherHomes {
    /// The directories for documents, settings, state and keys of homes, by the default names and by
    /// each home's own `user-dirs.dirs`.
    static func protectedRoots(of homes: [FilePath]) -> [FilePath] {
        Set(homes).filter { exists($0) }.flatMap { home in
            let file = home.appending(".config").appending("user-dirs.dirs")
            let configured = UserDirectories(contents: contents(of: file), home: home).paths.values
            return (configured + names.map { home.appending($0) }).filter { exists($0) }
        }
    }

    private static let names =
        UserDirectories.defaultNames + [".ssh", ".gnupg", ".config", ".local/state"]

    private static func exists(_ path: FilePath) -> Bool {
        do throws(Errno) {
            _ = try path.status()
            return true
        } catch {
            // What is not there cannot be met; what cannot be looked up cannot be walked to.
            return false
        }
    }

    private static func contents(of file: FilePath) -> [UInt8] {
        do throws(Errno) {
            return try contentsOfFile(file)
        } catch {
            // The default names count all the same.
            return []
        }
    }
}
