import CLinux
import SystemPackage

/// Creates a directory and its missing ancestors, accessible by their owner only, and synchronizes
/// the parent of each.
///
/// - Throws: ``FileError``, naming the directory that could not be created.
package func makeDirectories(_ path: FilePath) throws(FileError) {
    var reached = FilePath(root: path.root, [])
    for component in path.components {
        reached.append(component)
        do throws(Errno) {
            try makeDirectory(
                reached, in: .workingDirectory, permissions: 0o700)
            let parent = reached.removingLastComponent()
            let directory = OwnedDescriptor(
                try openDirectoryReference(parent.isEmpty ? "." : parent))
            try synchronizeDirectory(directory.descriptor)
        } catch .fileExists {
            continue
        } catch .readOnlyFileSystem where exists(reached) {
            continue
        } catch {
            throw .changingItem(error, reached)
        }
    }
}

private func exists(_ path: FilePath) -> Bool {
    do throws(Errno) {
        _ = try path.status()
        return true
    } catch {
        return false
    }
}
