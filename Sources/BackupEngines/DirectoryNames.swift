import SystemCalls
import SystemPackage

/// Whether a path leads to an empty directory, or to nothing.
///
/// - Parameter isIgnored: whether a name does not count.
/// - Throws: ``BackupError`` when it is something else, or cannot be read.
func isEmptyOrAbsent(
    _ path: FilePath, but isIgnored: ([UInt8]) -> Bool = { _ in false }
) throws(BackupError) -> Bool {
    var isEmpty = true
    do throws(Errno) {
        try forEachName(in: path) { name in
            isEmpty = isIgnored(name)
            return isEmpty
        }
    } catch .noSuchFileOrDirectory {
        return true
    } catch {
        throw BackupError(.other, "cannot be read as a directory: \(error)", path: path)
    }
    return isEmpty
}
