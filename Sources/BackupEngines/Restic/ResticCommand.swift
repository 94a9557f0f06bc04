import SystemPackage

/// A command of restic with its options and operands, which are kept apart: whatever an operand
/// begins with, restic takes it for none of the options.
struct ResticCommand: Sendable, Hashable {
    /// The command's name.
    let name: String
    /// The options, each with its value in one word: see ``option(_:_:)``.
    var options: [[UInt8]]
    /// What the command is about: paths, identifiers.
    var operands: [[UInt8]]

    init(_ name: String, _ options: [[UInt8]] = [], on operands: [[UInt8]] = []) {
        self.name = name
        self.options = options
        self.operands = operands
    }

    /// The words of the command line behind the program's name.
    func arguments(opening password: [[UInt8]]) -> [[UInt8]] {
        let ending = operands.isEmpty ? [] : words("--") + operands
        return words(name) + password + options + ending
    }
}

/// An option and its value as one word, so that the value is never taken for another option.
func option(_ name: String, _ value: [UInt8]) -> [UInt8] { Array("\(name)=".utf8) + value }

/// An option and its value as one word.
func option(_ name: String, _ value: String) -> [UInt8] { Array("\(name)=\(value)".utf8) }

/// Arguments that are plain text.
func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
