import Backups
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

/// The directory of settings, open, and reached through no link below the home: no other user can redirect
/// what is written there.
struct SettingsDirectory {
    let path: FilePath
    private let directory: OpenDirectory

    /// Opens it, and makes what is missing of it, accessible by its owner only.
    ///
    /// - Throws: ``FileError``, naming a directory that is a link, or that another user controls.
    init(_ path: FilePath) throws(FileError) {
        self.path = path
        var reached = FilePath("/")
        var names = path.components[...]
        if let home = currentBaseDirectories().home, path.isHeld(by: home) {
            reached = try realPath(of: home)
            names = path.components.dropFirst(home.components.count)
        }
        do throws(Errno) {
            var opened = OpenDirectory(try openDirectoryReference(reached))
            for name in names {
                reached.append(name)
                let name = FilePath(root: nil, [name])
                do throws(Errno) {
                    try makeDirectory(name, in: opened.descriptor, permissions: 0o700)
                } catch .fileExists {
                    // It is looked at below.
                }
                opened = OpenDirectory(
                    try openFile(
                        in: opened.descriptor, name, flags: [.reference, .directory, .noFollow]))
                let status = try opened.descriptor.status()
                guard [0, effectiveUser()].contains(status.owner), !status.isWritableByOthers else {
                    throw .notPermitted
                }
            }
            directory = opened
        } catch {
            guard error != .notDirectory else {
                throw FileError(
                    code: .notADirectory, message: "is a link, or not a directory",
                    advice: "put a directory there", path: reached)
            }
            guard error != .notPermitted else {
                throw FileError(
                    code: .permissionDenied, message: "another user owns it or can write to it",
                    advice: "chmod go-w, or chown it", path: reached)
            }
            throw FileError(error, of: reached)
        }
    }

    /// Returns a name that is free: this one, or with a number behind it.
    func freeName(like name: String) -> String {
        let names = [name] + (2...99).map { "\(name)-\($0)" }
        return names.first { (try? itemExists(path.appending($0))) == false } ?? name
    }

    /// Writes a file that only its owner can read, whole or not at all.
    ///
    /// - Throws: ``FileError``: `fileExists`, since nothing is replaced.
    func write(_ name: String, _ content: String) throws(FileError) {
        do throws(Errno) {
            var staged = try StagedFile(in: directory, permissions: 0o600)
            try writeFile(staged.descriptor, Array(content.utf8))
            try synchronize(staged.descriptor)
            try staged.publish(as: FilePath(name))
            try synchronizeDirectory(directory.descriptor)
        } catch {
            throw FileError(error, of: path.appending(name))
        }
    }
}
