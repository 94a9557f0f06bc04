import CTestSupport
import Glibc
import SystemCalls
import SystemPackage

/// The exact words and variables a command is started with.
struct Invocation: ~Copyable {
    /// Where the program is open in a process that starts it by descriptor.
    static let programDescriptor: CInt = 3

    /// A descriptor of the program, for a command that runs as another user: such a user need not be
    /// able to enter the directory that holds it.
    let program: CInt?
    private let executable: FilePath
    private let arguments: [[UInt8]]
    private let environment: [[UInt8]]

    init(_ command: Command) throws {
        environment = Self.variables(changed: command.environment)
        guard let user = command.user else {
            program = nil
            executable = command.executable
            arguments = [command.executable.bytes] + command.arguments
            return
        }
        guard let setpriv = FilePath.tool("setpriv") else {
            throw command.failure("setpriv is not installed")
        }
        let opened = command.executable.withPlatformString { test_open_path($0) }
        guard opened >= 0 else { throw command.failure("\(Errno(rawValue: errno))") }
        program = opened
        executable = setpriv
        let words = [
            "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--",
            "/proc/self/fd/\(Self.programDescriptor)",
        ]
        arguments = words.map { Array($0.utf8) } + command.arguments
    }

    deinit {
        if let program { close(program) }
    }

    /// Calls `body` with the program's path, its arguments and its variables as C wants them.
    func withPointers(
        _ body: (
            UnsafePointer<CChar>, [UnsafeMutablePointer<CChar>?], [UnsafeMutablePointer<CChar>?]
        ) -> CInt
    ) -> CInt {
        let argumentPointers = Self.pointers(to: arguments)
        let environmentPointers = Self.pointers(to: environment)
        defer {
            argumentPointers.forEach { free($0) }
            environmentPointers.forEach { free($0) }
        }
        return executable.withPlatformString { body($0, argumentPointers, environmentPointers) }
    }

    private static func pointers(to words: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    }

    private static func variables(changed changes: [String: String?]) -> [[UInt8]] {
        var variables: [[UInt8]] = []
        var pointer = Glibc.environ
        while let variable = pointer.pointee {
            let bytes = UnsafeBufferPointer(start: variable, count: strlen(variable))
                .map { UInt8(bitPattern: $0) }
            let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            if changes[name] == nil { variables.append(bytes) }
            pointer += 1
        }
        for case (let name, let value?) in changes {
            variables.append(Array("\(name)=\(value)".utf8))
        }
        return variables
    }
}
