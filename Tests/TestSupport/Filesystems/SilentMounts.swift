import Glibc
import SystemCalls
import SystemPackage
import Testing

/// Makes FUSE mounts that do not answer until the test ends: the program behind each was stopped. A
/// process works in the first one.
///
/// - Parameters:
///   - points: where they are mounted; made where they are missing.
///   - source: a directory with a directory `inner`, which they show.
package func makeSilentMounts(at points: [FilePath], showing source: FilePath) throws {
    try require(.root)
    try require(.tool("bindfs"))
    // A test that fails may leave one mounted; nothing is lost by that.
    try afterwards { for point in points { _ = try? tool("umount", "-l", point) } }
    var programs: [pid_t] = []
    func start(_ script: String, _ arguments: FilePath...) throws -> pid_t {
        let text = try tool(
            "bash",
            arguments: ["-c", script + " > /dev/null 2>&1 < /dev/null & echo $!"] + arguments)
        guard let process = pid_t(text.split(separator: "\n").joined()) else {
            throw FixtureError(call: "bash", file: script, errno: .invalidArgument)
        }
        try afterwards { kill(process, SIGKILL) }
        return process
    }
    for point in points {
        try tool("mkdir", "-p", point)
        programs.append(
            try start("bindfs -f -o attr_timeout=0 -o entry_timeout=0 \"$0\" \"$1\"", source, point)
        )
        while try point.status().isMountRoot != true { usleep(10_000) }
    }
    if let first = points.first {
        _ = try start("cd \"$0\" && exec sleep 300", first.appending("inner"))
        // Until it is there.
        usleep(300_000)
    }
    for program in programs { kill(program, SIGSTOP) }
    usleep(50_000)
}

/// Makes a FUSE mount of a user that refuses everybody else, also root.
///
/// - Returns: a function that ends the program behind it.
package func makeMount(
    ofUser user: UInt32, at point: FilePath, showing source: FilePath
) throws -> () -> Void {
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
    try afterwards {
        kill(process, SIGKILL)
        _ = try? tool("umount", "-l", point)
    }
    while (try? point.status()) != nil { usleep(10_000) }
    return { kill(process, SIGKILL) }
}
