import SystemCalls
import SystemPackage

/// The programs to start: restic, and the launcher that ties its lifetime to this process.
package struct ResticProgram: Sendable, Hashable {
    /// The path of restic.
    package let path: FilePath
    /// The path of util-linux's setpriv, which makes the kernel send SIGINT to restic when this
    /// process is killed; nil when it is missing, in which case restic continues until its next
    /// write to this process.
    ///
    /// In both cases its lock may stay, since restic dies from writing to a pipe without a reader.
    let launcher: FilePath?
    /// The path of util-linux's unshare; nil when it is missing.
    let unshare: FilePath?
    /// The path of hostname; nil when it is missing.
    let hostname: FilePath?

    /// Finds restic in a search path.
    ///
    /// - Parameter searchPath: the value of `PATH`, of which only absolute directories count: what the
    ///   working directory contains is not started.
    /// - Throws: ``BackupError`` with the code `engineMissing`.
    package init(searchPath: [UInt8]) throws(BackupError) {
        guard let path = Self.find("restic", in: searchPath) else {
            throw BackupError(
                .engineMissing, "there is no program restic on PATH",
                advice: ResticVersion.advice)
        }
        self.path = path
        let find = { Self.find($0, in: searchPath) }
        launcher = find("setpriv").flatMap { Self.isOfUtilLinux($0) ? $0 : nil }
        unshare = find("unshare").flatMap { Self.isOfUtilLinux($0) ? $0 : nil }
        hostname = find("hostname")
    }

    /// The program to start, and the arguments to insert before restic's own.
    var invocation: [[UInt8]] {
        guard let launcher else { return [path.bytes] }
        return [launcher.bytes] + words("--pdeathsig", "INT", "--") + [path.bytes]
    }

    private static func find(_ name: String, in searchPath: [UInt8]) -> FilePath? {
        searchPath.split(separator: UInt8(ascii: ":"))
            .filter { $0.first == UInt8(ascii: "/") }
            .map { FilePath(bytes: $0).appending(name) }
            .first { isExecutable($0) }
    }

    private static func isExecutable(_ path: FilePath) -> Bool {
        do throws(Errno) {
            guard try path.status().kind == .regularFile else { return false }
            return try path.isAccessible(for: .execute)
        } catch {
            // Not here: the search continues.
            return false
        }
    }

    /// Whether a program is that of util-linux. Busybox has it too, a link to itself, which does not
    /// have all options.
    private static func isOfUtilLinux(_ path: FilePath) -> Bool {
        do throws(Errno) {
            return try path.withoutFollowing.status().kind == .regularFile
        } catch {
            return false
        }
    }
}

/// A version of restic.
struct ResticVersion: Sendable, Comparable, CustomStringConvertible {
    /// The first version whose commands, exit codes and messages this program knows.
    static let oldest = ResticVersion(numbers: [0, 18])
    static let advice =
        "install restic \(oldest) or newer: apt install restic, or https://restic.net; Debian 12 has an "
        + "older one, and that of Debian 13 runs there"

    private let numbers: [Int]

    private init(numbers: [Int]) { self.numbers = numbers }

    /// Parses what `restic version` prints, `restic 0.18.0 compiled with …`; nil for anything else, and
    /// for development versions.
    init?(printed bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        guard words.count > 2, words[0] == "restic", words[2] == "compiled" else { return nil }
        let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = { (part: Substring) in
            (1...6).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard (2...3).contains(parts.count), parts.allSatisfy(isNumber) else { return nil }
        numbers = parts.compactMap { Int($0) }
    }

    var description: String { numbers.map(String.init).joined(separator: ".") }

    static func < (left: ResticVersion, right: ResticVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}

extension Restic {
    /// Checks, once, that restic is new enough.
    ///
    /// - Throws: ``BackupError``: `engineTooOld`, and as ``execute(_:reading:)`` does.
    func requireVersion() async throws(BackupError) {
        guard !isNewEnough.withLock({ $0 }) else { return }
        let (output, end) = try await execute(
            words("version"), reading: WholeOutput(limit: 1 << 20))
        guard end.code == 0, let version = ResticVersion(printed: output.bytes) else {
            throw BackupError(
                .engineTooOld, "does not name its version as restic does",
                advice: ResticVersion.advice, path: program.path)
        }
        guard version >= .oldest else {
            throw BackupError(
                .engineTooOld, "restic \(version) is too old", advice: ResticVersion.advice,
                path: program.path)
        }
        isNewEnough.withLock { $0 = true }
    }
}

/// The environment restic runs in: the inherited one, without variables that contradict the
/// arguments or change what they mean, and with the repository's location. Credentials, the
/// directory of the cache and what only changes speed stay.
struct ResticEnvironment: Sendable, Hashable {
    /// The variables, each as `NAME=VALUE`.
    let variables: [[UInt8]]

    /// - Parameters:
    ///   - repository: the location, in restic's syntax.
    ///   - hasPasswordFile: whether a password file is given as an argument; other variables that
    ///     give a password are then removed.
    init(_ inherited: [[UInt8]], repository: [UInt8], hasPasswordFile: Bool) {
        var removed = [
            "RESTIC_REPOSITORY", "RESTIC_REPOSITORY_FILE", "RESTIC_FROM_REPOSITORY",
            "RESTIC_FROM_REPOSITORY_FILE", "RESTIC_HOST", "RESTIC_FEATURES", "RESTIC_PROGRESS_FPS",
            "RESTIC_DEBUG_STACKTRACE_SIGINT",
        ]
        if hasPasswordFile {
            removed += ["RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND"]
        }
        let names = removed.map { Array("\($0)=".utf8) }
        var variables = inherited.filter { variable in
            // Subprocess rejects a whole environment if one entry has no valid name.
            guard let first = variable.first, !(0x30...0x39).contains(first),
                variable.dropFirst().contains(UInt8(ascii: "="))
            else { return false }
            return !names.contains { variable.starts(with: $0) }
        }
        variables.append(Array("RESTIC_REPOSITORY=".utf8) + repository)
        // restic writes each pack to a temporary file first.
        if let directory = roomyTemporaryDirectory() {
            variables.removeAll { $0.starts(with: "TMPDIR=".utf8) }
            variables.append(Array("TMPDIR=".utf8) + directory.bytes)
        }
        // Status lines per second: often enough to be useful, rarely enough to cost nothing.
        variables.append(Array("RESTIC_PROGRESS_FPS=4".utf8))
        self.variables = variables
    }

    /// Whether one of the variables gives a password.
    var givesPassword: Bool {
        ["RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND"]
            .contains { value($0) != nil }
    }
}

extension ResticEnvironment {
    /// The directory of restic's cache; nil if no variable determines it.
    var cacheDirectory: FilePath? {
        value("RESTIC_CACHE_DIR").map { FilePath(bytes: $0) }
            ?? value("XDG_CACHE_HOME").map { FilePath(bytes: $0).appending("restic") }
            ?? value("HOME").map { FilePath(bytes: $0).appending(".cache/restic") }
    }

    /// The value of a variable; nil when it is not set or empty.
    func value(_ name: String) -> [UInt8]? {
        let start = Array("\(name)=".utf8)
        return variables.last { $0.starts(with: start) && $0.count > start.count }
            .map { Array($0.dropFirst(start.count)) }
    }
}

/// Returns the value of an environment variable, as bytes; nil if it is unset or empty.
package func environmentValue(_ name: String) -> [UInt8]? {
    environmentVariable(name).flatMap { $0.isEmpty ? nil : $0 }
}

/// Returns a directory for temporary files to replace a full one: `/var/tmp` or `/tmp`.
///
/// - Returns: nil if the usual directory has enough space, or none has.
private func roomyTemporaryDirectory() -> FilePath? {
    let usual = environmentValue("TMPDIR").map { FilePath(bytes: $0) } ?? "/tmp"
    if hasTemporaryRoom(usual) { return nil }
    return ["/var/tmp", "/tmp"].first(where: hasTemporaryRoom)
}

/// Returns whether a directory has enough space for temporary files: 128 MiB, for as many packs as
/// restic fills at a time.
func hasTemporaryRoom(_ directory: FilePath) -> Bool {
    // A directory whose filesystem cannot be inspected is assumed not to be writable.
    guard let status = try? filesystemStatus(of: directory), !status.isReadOnly else {
        return false
    }
    let free = status.availableBlocks.multipliedSaturating(by: status.fragmentSize)
    return free >= 128 << 20 && (status.files == 0 || status.availableFiles > 0)
}
