import CLinux
import SystemCalls
import SystemPackage

/// A unit's name in the directory that holds it, which was reached from `/` by descriptor.
struct UnitPlace: Sendable {
    /// The unit's name.
    let name: [UInt8]
    /// The path of the directory that holds it.
    let parentPath: [UInt8]
    /// The directory that holds it, open with `O_PATH`.
    let parent: OpenedFile
    /// The status of that directory.
    let parentStatus: FileStatus

    var directory: FileDescriptor { parent.descriptor }

    /// What has a name in the directory now; nil when nothing has.
    func status(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name))
                .status()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}

/// The names of an absolute path that is spelled as a search spells it; nil for any other, such as
/// one with `..` in it.
func plainNames(of path: [UInt8]) -> [[UInt8]]? {
    let slash = UInt8(ascii: "/")
    guard path.first == slash, path.count > 1, !path.contains(0) else { return nil }
    let names = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
    let special = [Array("".utf8), Array(".".utf8), Array("..".utf8)]
    guard !names.contains(where: { special.contains(Array($0)) }) else { return nil }
    return names.map { Array($0) }
}
