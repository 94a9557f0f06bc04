import StoragePolicy
import SystemCalls
import SystemPackage

/// What is protected in the homes of all users.
enum OtherHomes {
    /// The directories for documents, settings, state and keys of homes, by the default names and by
    /// each home's own `user-dirs.dirs`.
    static func protectedRoots(of homes: [FilePath]) -> [FilePath] {
        Set(homes).flatMap { home in
            let base = BaseDirectories(
                environment: ["HOME": home], passwordDatabase: PasswordDatabase(contents: []),
                user: 0)
            let file = home.appending(".config").appending("user-dirs.dirs")
            let inputs = LocationInputs(base: base, userDirectories: contents(of: file))
            return StorageLocations(inputs).protectedRoots
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
