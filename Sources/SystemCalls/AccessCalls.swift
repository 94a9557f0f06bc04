import CLinux
import SystemPackage

/// A kind of access to check a file for.
package enum AccessMode: CInt, Sendable {
    /// `R_OK`.
    case read = 4
    /// `W_OK`.
    case write = 2
    /// `X_OK`: execute a file, search a directory.
    case execute = 1
}

extension FileLocation where Self: ~Copyable {
    /// Whether the effective user has the given access to the file: `faccessat2(2)`.
    ///
    /// - Throws: the call's errno, except those that mean "no": `EACCES`, `EROFS`, `EPERM`,
    ///   `ETXTBSY`.
    package func isAccessible(for mode: AccessMode) throws(Errno) -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                _ = try perform(.faccessat) {
                    linux_faccessat(target.directory, target.path, mode.rawValue, target.flags)
                }
                return true
            }
        } catch {
            switch error {
            case .permissionDenied, .readOnlyFileSystem, .notPermitted, .textFileBusy: return false
            default: throw error
            }
        }
    }

    /// Whether the filesystem provides file handles, by which its files can be found again:
    /// `name_to_handle_at(2)`.
    ///
    /// - Throws: the call's errno, including `EPERM` from a seccomp filter.
    package func hasHandle() throws(Errno) -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                // This call follows links only with a flag of its own, and has no
                // AT_SYMLINK_NOFOLLOW.
                let flags = target.flags & AT_EMPTY_PATH
                _ = try perform(.name_to_handle_at) {
                    linux_probe_handle(target.directory, target.path, flags)
                }
                return true
            }
        } catch .overflow {
            return true
        } catch .notSupported {
            return false
        }
    }
}
