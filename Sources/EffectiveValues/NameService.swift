import StoragePolicy
import SystemCalls
import SystemPackage

/// Asks getent(1) for the accounts that `/etc/passwd` does not name, such as those of LDAP or
/// systemd-homed: no name service can be linked statically.
package final class NameService: Sendable {
    private struct State {
        var homes: [UInt32: FilePath?] = [:]
        /// Whether an answer took too long: then no more is asked.
        var isSilent = false
    }

    /// The answers that this process was given.
    package static let shared = NameService(subordinates: "/etc/subuid")
    private static let program: FilePath = "/usr/bin/getent"
    private static let longestWait = Duration.seconds(5)

    private let state = Monitor(State())
    private let subordinates: [ClosedRange<UInt32>]

    private init(subordinates path: FilePath) {
        // Without the file no uids are set aside for containers.
        subordinates = subordinateUsers(in: (try? contentsOfFile(path)) ?? [])
    }

    /// Returns the home of a user whom `/etc/passwd` does not name; nil without an answer. Each user is
    /// asked for once.
    package func home(of user: UInt32) -> FilePath? {
        if isSubordinate(user) { return nil }
        return state.withLock { state in
            if let known = state.homes[user] { return known }
            let home = state.isSilent ? nil : ask(for: user, &state)
            state.homes[user] = .some(home)
            return home
        }
    }

    /// Whether a uid is one of a container, as set aside in subuid(5): it belongs to no person.
    package func isSubordinate(_ user: UInt32) -> Bool {
        subordinates.contains { $0.contains(user) }
    }

    private func ask(for user: UInt32, _ state: inout State) -> FilePath? {
        var answer: [UInt8] = []
        do throws(Errno) {
            let root = OwnedDescriptor(try openDirectoryReference("/"))
            let code = try runProgram(
                Self.program, [Array("passwd".utf8), Array("\(user)".utf8)],
                environment: [Array("PATH=/usr/bin:/bin".utf8), Array("LC_ALL=C".utf8)],
                in: root.descriptor, within: Self.longestWait
            ) { part in
                if answer.count < 1 << 16 { answer += part }
            }
            return code == 0 ? PasswordDatabase(contents: answer).home(of: user) : nil
        } catch {
            if error == .timedOut { state.isSilent = true }
            return nil
        }
    }
}

/// Returns the ranges of uids in the contents of a file in the format of subuid(5).
private func subordinateUsers(in contents: [UInt8]) -> [ClosedRange<UInt32>] {
    contents.split(separator: UInt8(ascii: "\n")).compactMap { line in
        let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { UInt32(String(decoding: $0, as: UTF8.self)) }
        guard fields.count == 3, let first = fields[1], let count = fields[2], count > 0
        else { return nil }
        let (last, overflows) = first.addingReportingOverflow(count - 1)
        return first...(overflows ? .max : last)
    }
}

/// Returns the topmost directory of a user on a real path, or the item itself; nil if the user owns
/// nothing on it.
package func topmostDirectory(of user: UInt32, on path: FilePath) -> FilePath? {
    var next: FilePath = "/"
    for component in [nil] + path.components.map(Optional.some) {
        if let component { next.append(component) }
        if (try? next.withoutFollowing.status().owner) == user { return next }
    }
    return nil
}
