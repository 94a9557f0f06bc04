import SystemCalls
import SystemPackage

/// Something whose bytes are one argument of a command.
package protocol CommandArgument: Sendable {
    var argumentBytes: [UInt8] { get }
}

extension String: CommandArgument {
    package var argumentBytes: [UInt8] { Array(utf8) }
}

extension FilePath: CommandArgument {
    package var argumentBytes: [UInt8] { bytes }
}

extension FileName: CommandArgument {
    package var argumentBytes: [UInt8] { bytes }
}

extension [UInt8]: CommandArgument {
    package var argumentBytes: [UInt8] { self }
}
