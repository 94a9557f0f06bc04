#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls
import SystemPackage

/// The systemd that starts this program again: the user's, or for root without one the system's.
///
/// Each of its functions throws ``BGTaskScheduler/Error``: `unavailable`.
struct ServiceManager {
    private let option: String
    private let environment: [[UInt8]]
    private let systemctl: FilePath
    private let systemdRun: FilePath

    init() throws {
        let user = effectiveUser()
        let chosen = environmentVariable("XDG_RUNTIME_DIR").map { FilePath(bytes: $0) }
        let directories = [chosen, FilePath("/run/user/\(user)")].compactMap { $0 }
        var variables = inheritedEnvironment().filter { variable in
            !["XDG_RUNTIME_DIR=", "LC_ALL=", "SYSTEMD_COLORS="].contains {
                variable.starts(with: $0.utf8)
            }
        }
        variables += ["LC_ALL=C", "SYSTEMD_COLORS=0"].map { Array($0.utf8) }
        if let directory = directories.first(where: { Self.hasManager($0, of: user) }) {
            option = "--user"
            variables.append(Array("XDG_RUNTIME_DIR=".utf8) + directory.bytes)
        } else if user == 0, Self.exists("/run/systemd/private", of: 0) {
            option = "--system"
        } else {
            throw BGTaskScheduler.Error(
                .unavailable,
                user == 0
                    ? "systemd is not running"
                    : "systemd has no manager for this user: log in, or loginctl enable-linger")
        }
        environment = variables
        systemctl = try Self.installed("systemctl")
        systemdRun = try Self.installed("systemd-run")
    }

    /// Makes the timer of a request.
    func start(_ record: TaskRecord, as unit: TaskUnit) throws {
        let start = TaskStart(
            program: try Self.thisProgram(), arguments: try Self.ownArguments(),
            directory: try call("getcwd") { () throws(Errno) in try workingDirectory() },
            systemctl: systemctl,
            grep: record.needsNetwork ? try Self.installed("grep") : "/usr/bin/grep",
            manager: option)
        if let obstacle = start.obstacle { throw BGTaskScheduler.Error(.unavailable, obstacle) }
        _ = try run(
            systemdRun, start.arguments(for: record, as: unit, now: FileTime.now.seconds))
    }

    /// Returns the requests whose timers have not elapsed.
    func pending() throws -> [(unit: TaskUnit, record: TaskRecord)] {
        let output = try run(
            systemctl,
            [
                option, "show", "--all", "--property=Id,SubState,Environment", "bgtask-*.timer",
                "bgtask-*.service",
            ].map { Array($0.utf8) })
        return Self.pending(in: output, of: ThisProgram.name)
    }

    /// Parses what `systemctl show` prints of timers and services.
    static func pending(
        in output: [UInt8], of program: [UInt8]
    ) -> [(unit: TaskUnit, record: TaskRecord)] {
        var waiting: Set<TaskUnit> = []
        var records: [TaskUnit: TaskRecord] = [:]
        var properties: [String: String] = [:]
        let lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines + [[]] {
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(decoding: line[..<equals], as: UTF8.self)
                properties[name] = String(decoding: line[(equals + 1)...], as: UTF8.self)
                continue
            }
            defer { properties = [:] }
            guard let id = properties["Id"], let unit = TaskUnit(unit: id, program: program)
            else { continue }
            if id == unit.timer, properties["SubState"] == "waiting" { waiting.insert(unit) }
            let variable = TaskRecord.variable + "="
            for word in (properties["Environment"] ?? "").utf8.split(separator: UInt8(ascii: " "))
            where word.starts(with: variable.utf8) {
                records[unit] = TaskRecord(text: Substring(word.dropFirst(variable.utf8.count)))
            }
        }
        return waiting.compactMap { unit in
            guard let record = records[unit],
                unit.isOf(program: program, identifier: record.identifier)
            else { return nil }
            return (unit, record)
        }.sorted { $0.unit.name < $1.unit.name }
    }

    /// Ends the timers of requests; a task that runs goes on.
    func cancel(_ units: [TaskUnit]) throws {
        guard !units.isEmpty else { return }
        // A timer that elapses meanwhile is no longer loaded: exit code 5.
        _ = try run(
            systemctl, ([option, "stop"] + units.map(\.timer)).map { Array($0.utf8) },
            accepting: [0, 5])
    }

    /// Runs a tool of systemd, which gives up by itself where the manager does not answer.
    private func run(
        _ tool: FilePath, _ arguments: [[UInt8]], accepting codes: Set<Int> = [0]
    ) throws -> [UInt8] {
        let name = tool.lastComponent?.string ?? ""
        let result = try call(name) {
            () throws(Errno) -> (code: Int, output: [UInt8], messages: [UInt8]) in
            let output = OwnedDescriptor(try makeMemoryFile("output"))
            let messages = OwnedDescriptor(try makeMemoryFile("messages"))
            let process = try startProgram(
                tool, arguments, environment: environment, output: output.descriptor,
                messages: messages.descriptor)
            let code = try waitForProgram(process)
            return (code, try text(of: output.descriptor), try text(of: messages.descriptor))
        }
        guard codes.contains(result.code) else {
            let messages = String(decoding: result.messages, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            throw BGTaskScheduler.Error(
                .unavailable,
                "\(name): \(messages.isEmpty ? "exit code \(result.code)" : messages)")
        }
        return result.output
    }

    private func text(of file: FileDescriptor) throws(Errno) -> [UInt8] {
        // Opened again, since the position is where the tool has stopped to write.
        let reopened = OwnedDescriptor(try reopenFile(file, flags: .readOnly))
        return try contents(
            ofOpen: reopened.descriptor, reopened.descriptor.status(), limit: 1 << 20)
    }

    private static func hasManager(_ directory: FilePath, of user: UInt32) -> Bool {
        exists(directory, of: user) && exists(directory.appending("systemd/private"), of: user)
    }

    /// Whether an item exists and belongs to a user, so that the manager behind it is that user's.
    private static func exists(_ path: FilePath, of user: UInt32) -> Bool {
        (try? path.withoutFollowing.statusIfPresent())?.owner == user
    }

    private static func installed(_ tool: String) throws -> FilePath {
        guard let path = findProgram(tool) else {
            throw BGTaskScheduler.Error(.unavailable, "\(tool) is not installed")
        }
        return path
    }

    /// Returns the file that a task is started from: that of this process, or what has replaced it.
    private static func thisProgram() throws -> FilePath {
        guard let path = ThisProgram.file else {
            throw BGTaskScheduler.Error(.unavailable, "/proc/self/exe cannot be read")
        }
        guard (try? path.fileStatus())?.kind == .regularFile else {
            throw BGTaskScheduler.Error(.unavailable, "the program's file was removed")
        }
        return path
    }

    private static func ownArguments() throws -> [[UInt8]] {
        do throws(FileError) {
            return try contentsOfFile("/proc/self/cmdline")
                .split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
                .map(Array.init)
        } catch {
            throw BGTaskScheduler.Error(.unavailable, "/proc/self/cmdline: \(error)")
        }
    }
}

private func call<Result>(
    _ name: String, _ body: () throws(Errno) -> Result
) throws -> Result {
    do throws(Errno) {
        return try body()
    } catch {
        throw BGTaskScheduler.Error(.unavailable, "\(name): \(error)")
    }
}
#endif
