import EffectiveValues
import StoragePolicy
import SystemPackage

/// Reads any bytes as the files of a system that say where things are: never a crash, and never a
/// directory that is not absolute.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzSystemFiles(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let mounts = MountTable(mountinfo: bytes).mounts
    for mount in mounts { _ = MountTable(mountinfo: bytes).mount(holding: mount.mountPoint) }
    let accounts = PasswordDatabase(contents: bytes).accounts
    precondition(accounts.allSatisfy { $0.home.isAbsolute && $0.home != "/" })
    let directories = UserDirectories(contents: bytes, home: "/home/ada")
    precondition(directories.paths.values.allSatisfy { $0.isAbsolute && $0 != "/home/ada" })
    return 0
}
