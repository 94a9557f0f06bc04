#if !canImport(Darwin)
import SystemCalls
import SystemPackage

/// The file that this process runs.
enum ThisProgram {
    /// The file's path: `/proc/self/exe`. Of a file that was removed or replaced it no longer leads
    /// there.
    static func file() throws(Errno) -> FilePath {
        try symbolicLinkTarget(FilePath("/proc/self/exe").withoutFollowing)
    }

    /// The file's name, by which timers, state and directories belong to the program; empty if it
    /// is not known.
    static func name() -> [UInt8] {
        (try? file())?.lastComponent.map { FilePath($0.string).bytes } ?? []
    }
}
#endif
