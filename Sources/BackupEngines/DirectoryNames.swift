import SystemCalls
import SystemPackage

/// Whether a path leads to an empty directory, or to nothing.
///
/// - Throws: ``BackupError`` when it is something else, or cannot be read.
func isEmptyOrAbsent(_ path: FilePath) throws(BackupError) -> Bool {
    var isEmpty = true
    do throws(Errno) {
        try forEachName(in: path) { _ in
            isEmpty = false
            return false
        }
    } catch .noSuchFileOrDirectory {
        return true
    } catch {
        throw BackupError(.other, "cannot be read as a directory: \(error)", path: path)
    }
    return isEmpty
}
