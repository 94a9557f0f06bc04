import Glibc
import SystemCalls
import SystemPackage
import Testing

/// Calls `body` while FUSE mounts do not answer: the program behind each was stopped. A process works in
/// the first one.
///
/// - Parameters:
///   - points: where they are mounted; made where they are missing.
///   - source: a directory with a directory `inner`, which they show.
package func withSilentMounts(
    at points: [FilePath], showing source: FilePath, _ body: () throws -> Void
) throws {
    try require(.root)
    try require(.tool("bindfs"))
    var processes: [pid_t] = []
    defer {
        for process in processes { kill(process, SIGKILL) }
        // A test that fails may leave one mounted; nothing is lost by that.
        for point in points { _ = try? tool("umount", "-l", point) }
    }
    func start(_ script: String, _ arguments: FilePath...) throws {
        let text = try tool(
            "bash",
            arguments: ["-c", script + " > /dev/null 2>&1 < /dev/null & echo $!"] + arguments)
        guard let process = pid_t(text.split(separator: "\n").joined()) else {
            throw FixtureError(call: "bash", file: script, errno: .invalidArgument)
        }
        processes.append(process)
    }
    for point in points {
        try tool("mkdir", "-p", point)
        try start("bindfs -f -o attr_timeout=0 -o entry_timeout=0 \"$0\" \"$1\"", source, point)
        while try point.status().isMountRoot != true { usleep(10_000) }
    }
    let programs = processes
    if let first = points.first {
        try start("cd \"$0\" && exec sleep 300", first.appending("inner"))
        // Until it is there.
        usleep(300_000)
    }
    for program in programs { kill(program, SIGSTOP) }
    usleep(50_000)
    try body()
}

/// Calls `body` with a FUSE mount of a user that refuses everybody else, also root, and a function that ends
/// the program behind it.
package func withMount(
    ofUser user: UInt32, at point: FilePath, showing source: FilePath,
    _ body: (_ end: () throws -> Void) throws -> Void
) throws {
    try require(.root, .tool("bindfs"), .tool("setpriv"))
    let capabilities = "+sys_admin,+dac_override"
    let script = """
        setpriv --reuid "$2" --regid "$2" --clear-groups --inh-caps "$3" --ambient-caps "$3" \
            bindfs -f --no-allow-other "$0" "$1" > /dev/null 2>&1 < /dev/null & echo $!
        """
    let number = try tool(
        "bash", arguments: ["-c", script, source, point, "\(user)", capabilities])
    guard let process = pid_t(number) else {
        throw FixtureError(call: "bash", file: script, errno: .invalidArgument)
    }
    defer {
        kill(process, SIGKILL)
        _ = try? tool("umount", "-l", point)
    }
    while (try? point.status()) != nil { usleep(10_000) }
    try body { kill(process, SIGKILL) }
}
