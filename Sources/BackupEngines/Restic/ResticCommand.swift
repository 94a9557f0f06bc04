import SystemPackage

/// A restic command with its options and operands, which are kept apart so that restic takes no
/// operand for an option, whatever it begins with.
struct ResticCommand: Sendable, Hashable {
    /// The command's name.
    let name: String
    /// The options, each in one word with its value: see ``option(_:_:)``.
    var options: [[UInt8]]
    /// The paths or identifiers that the command applies to.
    var operands: [[UInt8]]

    init(_ name: String, _ options: [[UInt8]] = [], on operands: [[UInt8]] = []) {
        self.name = name
        self.options = options
        self.operands = operands
    }

    /// Returns the command line after the program's name.
    func arguments(opening password: [[UInt8]]) -> [[UInt8]] {
        let ending = operands.isEmpty ? [] : words("--") + operands
        return words(name) + password + options + ending
    }
}

/// Returns an option and its value as one word, so that the value is never taken for another
/// option.
func option(_ name: String, _ value: [UInt8]) -> [UInt8] { Array("\(name)=".utf8) + value }

/// Returns an option and its value as one word.
func option(_ name: String, _ value: String) -> [UInt8] { Array("\(name)=\(value)".utf8) }

/// Returns plain text as arguments.
func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
