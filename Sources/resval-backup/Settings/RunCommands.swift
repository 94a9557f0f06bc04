import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

/// The owner's commands that a run starts: the settings `before`, `after` and `on-failure`.
struct RunCommands: Sendable, Hashable {
    /// What runs before the backup, which is not made where it fails.
    var before: String?
    /// What runs behind the run, whatever came of it, once it began.
    var after: String?
    var onFailure: String?
    var limit = Duration.seconds(3600)

    /// The exit code of `before` by which the backup waits.
    static let waitingCode: Int32 = 75

    var isEmpty: Bool { before == nil && after == nil && onFailure == nil }

    /// Runs a command with `/bin/sh`, apart from this program's session, and says where it took too long.
    ///
    /// - Parameters:
    ///   - isStopped: whether a stop request ends it, too.
    ///   - status: what it is told of the run, in its environment.
    /// - Returns: its exit code.
    func run(_ command: String, isStopped: Bool, _ status: RunStatus) async -> Int32 {
        do throws(BackupError) {
            let end = try await runOwnersCommand(
                "/bin/sh", ["-c", command].map { Array($0.utf8) },
                environment: Self.environment(status), isApart: true, within: limit,
                shouldStop: { isStopped && StopRequest.isMade })
            if end.wasLate {
                Messages.write("a command takes too long and is ended: \(command)")
            }
            return end.code
        } catch {
            Messages.write(error.message)
            return 127
        }
    }

    /// The variables that a command gets: those that name no repository and give no password, and the facts
    /// of the run.
    private static func environment(_ status: RunStatus) -> [[UInt8]] {
        let kept = [
            "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
            "DISPLAY",
            "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "INVOCATION_ID",
        ]
        let inherited = inheritedEnvironment().filter { variable in
            let name = String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            return kept.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
        }
        let facts = [
            ("RESULT", status.result.rawValue), ("STEP", status.step?.rawValue),
            ("EXIT_CODE", status.exitCode.map { "\($0)" }),
            ("SNAPSHOT", status.snapshot?.identifier),
            ("WAITING_FOR", status.waitingFor),
        ]
        return inherited
            + facts.compactMap { name, fact in fact.map { Array("RESVAL_\(name)=\($0)".utf8) } }
    }
}

/// Checks for root that only root can have written a file that names commands, and can replace it.
///
/// - Throws: ``FileError`` `permissionDenied`, naming the directory that another user controls.
func requireRootsDirectories(above path: FilePath) throws(FileError) {
    guard effectiveUser() == 0 else { return }
    for var item in [path, try realPath(of: path)] {
        while !item.isEmpty {
            let status = try item.withoutFollowing.fileStatus()
            // Other users cannot take root's entries out of a directory with the sticky bit.
            let isShut = !status.isWritableByOthers || status.permissions & 0o1000 != 0
            guard status.owner == 0, isShut || status.kind == .symbolicLink else {
                throw FileError(
                    code: .permissionDenied,
                    message:
                        "another user owns it or can write to it, and root would run the commands "
                        + "that are below",
                    advice: "move the configuration to /etc/resval", path: item)
            }
            if !item.removeLastComponent() { break }
        }
    }
}
