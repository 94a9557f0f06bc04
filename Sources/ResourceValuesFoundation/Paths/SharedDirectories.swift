#if !canImport(Darwin)
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The directories that all programs of the user share: the base directories, those in
/// `user-dirs.dirs` or by their default names, and the directories above all of these.
///
/// They need not exist. Settings are read once, when the value is made.
struct SharedDirectories {
    private let paths: [FilePath]

    init() {
        let base = currentBaseDirectories()
        let settings = [
            base.cacheHome, base.configurationHome, base.dataHome, base.stateHome,
            base.temporaryDirectory,
        ].compactMap { $0?.path }
        // Also where the settings lead elsewhere: other programs may not know them.
        let byName =
            UserDirectories.defaultNames + [".cache", ".config", ".local/share", ".local/state"]
        let ofData = ["applications", "Trash/files"].flatMap { name in
            base.dataHome.map { [$0.path.appending(name)] } ?? []
        }
        let home = base.home.map { home in [home] + byName.map { home.appending($0) } } ?? []
        paths = (settings + ofData + home + base.userDirectories.values).map {
            $0.lexicallyNormalized()
        }
    }

    /// Whether a directory that is to be created is one of them.
    ///
    /// Only directories above one of the same name are accessed, so a volume that does not respond
    /// delays nothing else. Symbolic links on the way do not matter, since inodes are compared.
    ///
    /// - Throws: ``FileError`` when the directory above does not exist or cannot be reached.
    func contains(_ directory: FilePath) throws(FileError) -> Bool {
        guard let name = directory.lastComponent, name.kind == .regular else { return false }
        let parent = directory.removingLastComponent()
        let identity: FileIdentity
        do throws(Errno) {
            identity = try (parent.isEmpty ? "." : parent).status().identity
        } catch {
            throw FileError(error, of: directory)
        }
        return paths.contains { path in
            var above = path
            while let last = above.lastComponent {
                above.removeLastComponent()
                if last == name, (try? above.status().identity) == identity { return true }
            }
            return false
        }
    }
}
#endif
