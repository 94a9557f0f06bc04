import CLinux
import SystemPackage

/// Returns the directory of this process's executable; nil if `/proc/self/exe` cannot be read.
package func directoryOfThisProgram() -> FilePath? {
    do throws(Errno) {
        return try symbolicLinkTarget(FilePath("/proc/self/exe").withoutFollowing)
            .removingLastComponent()
    } catch {
        return nil
    }
}

/// Returns the path of a program in this executable's directory, or else in a directory of `PATH`;
/// nil if there is none.
package func findProgram(_ name: String) -> FilePath? {
    var directories: [FilePath] = []
    if let beside = directoryOfThisProgram() { directories.append(beside) }
    if let searchPath = environmentVariable("PATH") {
        directories += searchPath.split(separator: UInt8(ascii: ":")).map { FilePath(bytes: $0) }
    }
    return directories.map { $0.appending(name) }.first { program in
        do throws(Errno) {
            guard try program.status().kind == .regularFile else { return false }
            return try program.isAccessible(for: .execute)
        } catch {
            return false
        }
    }
}

/// Starts a program with this process's environment and `/dev/null` as its standard input and
/// output: `posix_spawn(3)`.
///
/// - Parameters:
///   - arguments: the arguments after the first, which is the path.
///   - messages: the descriptor for the program's standard error.
/// - Returns: the pid, for ``waitForProgram(_:)``.
package func startProgram(
    _ path: FilePath, _ arguments: [[UInt8]], messages: FileDescriptor
) throws(Errno) -> Int {
    let words = ([path.bytes] + arguments).map { copied($0) }
    defer { words.forEach { free($0) } }
    return try path.withPointer { path throws(Errno) in
        try perform(.posix_spawn) { linux_spawn(path, words + [nil], messages.rawValue) }
    }
}

/// Waits for a program to end: `waitpid(2)`.
///
/// - Returns: its exit code, or 128 plus the number of the signal that ended it.
package func waitForProgram(_ process: Int) throws(Errno) -> Int {
    try perform(.waitpid) { linux_wait(CInt(process)) }
}

/// Returns a NUL-terminated copy of the bytes up to the first NUL, which the caller frees.
private func copied(_ word: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (word.prefix { $0 != 0 } + [0]).withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.flatMap { strdup($0) } }
    }
}
