import CLinux
import SystemPackage

/// What a process may want to do with a file.
package enum AccessMode: CInt, Sendable {
    /// `R_OK`.
    case read = 4
    /// `W_OK`.
    case write = 2
    /// `X_OK`: execute a file, search a directory.
    case execute = 1
}

extension FileLocation where Self: ~Copyable {
    /// Whether the effective user may access the file: `faccessat2(2)`.
    ///
    /// - Throws: the call's errno, but for those that say no (`EACCES`, `EROFS`, `EPERM`, `ETXTBSY`).
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

    /// Whether the filesystem gives numbers by which its files can be found again:
    /// `name_to_handle_at(2)`.
    ///
    /// - Throws: the call's errno, `EPERM` of a seccomp filter among them.
    package func hasHandle() throws(Errno) -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                // Links are not followed unless asked to, other than by the calls around it.
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
