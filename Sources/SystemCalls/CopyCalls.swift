import CLinux
import SystemPackage

/// Copies all extended attributes that xattr.conf(5) does not skip: `attr_copy_fd(3)`.
///
/// - Parameters:
///   - sourcePath: the source's path, which libattr uses in its messages only.
///   - targetPath: likewise.
/// - Throws: the errno of the first attribute that could not be copied; the others are copied.
package func copyAttributes(
    from source: FileDescriptor, _ sourcePath: FilePath,
    to target: FileDescriptor, _ targetPath: FilePath
) throws(Errno) {
    try sourcePath.withPointer { sourceName throws(Errno) in
        try targetPath.withPointer { targetName throws(Errno) in
            _ = try perform(.copyAttributes) {
                linux_copy_attributes(sourceName, source.rawValue, targetName, target.rawValue)
            }
        }
    }
}
