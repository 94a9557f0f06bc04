import CLinux
import SystemPackage

/// Returns the directory of this process's executable; nil if `/proc/self/exe` cannot be read.
package func directoryOfThisProgram() -> FilePath? {
    try? symbolicLinkTarget(FilePath("/proc/self/exe").withoutFollowing).removingLastComponent()
}

/// Returns the path of a program in this executable's directory, or else as
/// ``findProgram(_:in:)`` does for `PATH`.
package func findProgram(_ name: String) -> FilePath? {
    if let beside = directoryOfThisProgram()?.appending(name), isProgram(beside) { return beside }
    return findProgram(Array(name.utf8), in: environmentVariable("PATH") ?? [])
}

/// Returns the path of a program in the absolute directories of a search path: what the working
/// directory contains is not started. nil if there is none.
package func findProgram(_ name: [UInt8], in searchPath: [UInt8]) -> FilePath? {
    searchPath.split(separator: UInt8(ascii: ":")).map { FilePath(bytes: $0) }
        .filter(\.isAbsolute).map { $0.pushing(FilePath(bytes: name)) }.first(where: isProgram)
}

private func isProgram(_ path: FilePath) -> Bool {
    (try? path.status().kind) == .regularFile && (try? path.isAccessible(for: .execute)) == true
}

/// Starts a program with `/dev/null` as its standard input: `posix_spawn(3)`. For threads that wait,
/// since Subprocess has only `async` calls.
///
/// - Parameters:
///   - arguments: the arguments after the first, which is the path.
///   - environment: the variables as `NAME=VALUE`; nil for those of this process.
///   - directory: the open directory to start in; nil for the thread's working directory.
///   - output: the descriptor for the program's standard output; nil for `/dev/null`.
///   - messages: the descriptor for the program's standard error; nil for `/dev/null`.
/// - Returns: the pid, for ``waitForProgram(_:)``.
package func startProgram(
    _ path: FilePath, _ arguments: [[UInt8]], environment: [[UInt8]]? = nil,
    in directory: FileDescriptor? = nil, output: FileDescriptor? = nil,
    messages: FileDescriptor? = nil
) throws(Errno) -> Int {
    let words = ([path.bytes] + arguments).map { copied($0) }
    let variables = environment.map { $0.map { copied($0) } }
    defer { (words + (variables ?? [])).forEach { free($0) } }
    return try path.withPointer { path throws(Errno) in
        try perform(.posix_spawn) {
            func spawn(_ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Int {
                linux_spawn(
                    path, words + [nil], environment, directory?.rawValue ?? -1,
                    output?.rawValue ?? -1, messages?.rawValue ?? -1)
            }
            guard let variables else { return spawn(nil) }
            return (variables + [nil]).withUnsafeBufferPointer { spawn($0.baseAddress) }
        }
    }
}

/// Waits for a program to end: `waitpid(2)`.
///
/// - Returns: its exit code, or 128 plus the number of the signal that ended it.
package func waitForProgram(_ process: Int) throws(Errno) -> Int {
    try perform(.waitpid) { linux_wait(CInt(process)) }
}

/// Runs a program to its end and reads its standard output. Its messages are dropped.
///
/// - Parameters:
///   - arguments: the arguments after the first, which is the path.
///   - environment: all of its variables, as `NAME=VALUE`.
///   - directory: the open directory that it starts in.
///   - limit: how long it may take; then it is killed.
///   - body: called with each part of the output.
/// - Returns: as ``waitForProgram(_:)``.
/// - Throws: `ETIMEDOUT` when the time is over, and the errno of a call.
package func runProgram(
    _ path: FilePath, _ arguments: [[UInt8]], environment: [[UInt8]],
    in directory: FileDescriptor, within limit: Duration,
    output body: (UnsafeRawBufferPointer) -> Void
) throws(Errno) -> Int {
    let end = monotonicTime() + limit
    let pipe = try makePipe()
    let output = OwnedDescriptor(pipe.output)
    let process: Int
    do throws(Errno) {
        process = try startProgram(
            path, arguments, environment: environment, in: directory, output: pipe.input)
        closeIgnoringErrors(pipe.input)
    } catch {
        closeIgnoringErrors(pipe.input)
        throw error
    }
    do throws(Errno) {
        try readAll(of: output.descriptor, until: end, body)
    } catch {
        _ = try? perform(.kill) { linux_kill(CInt(process), SIGKILL) }
        _ = try? waitForProgram(process)
        throw error
    }
    return try waitForProgram(process)
}

private func readAll(
    of output: FileDescriptor, until end: Duration, _ body: (UnsafeRawBufferPointer) -> Void
) throws(Errno) {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    defer { chunk.deallocate() }
    while true {
        let left = (end - monotonicTime()) / .milliseconds(1)
        let hasInput = try perform(.poll) {
            linux_wait_for_input(output.rawValue, CInt(max(left, 0)))
        }
        guard hasInput > 0 else { throw .timedOut }
        let count = try readFile(output, into: chunk)
        if count == 0 { return }
        body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
    }
}

/// Returns a NUL-terminated copy of the bytes up to the first NUL, which the caller frees.
private func copied(_ word: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (word.prefix { $0 != 0 } + [0]).withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.flatMap { strdup($0) } }
    }
}
