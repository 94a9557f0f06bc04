import Testing

/// How a command ended, and all it wrote.
package struct CommandResult: Sendable, Hashable {
    /// The way a process ends.
    package enum End: Sendable, Hashable {
        /// It exited with this code.
        case exit(Int32)
        /// A signal of this number ended it.
        case signal(Int32)
    }

    package let end: End
    package let output: [UInt8]
    package let errorOutput: [UInt8]

    /// The exit code; nil when a signal ended the process.
    package var exitCode: Int32? {
        guard case .exit(let code) = end else { return nil }
        return code
    }

    /// What was written to standard output, repaired where it is not UTF-8.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// What was written to standard error, repaired where it is not UTF-8.
    package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }

    /// The output's records, each of which must end with a NUL.
    package var records: [[UInt8]] {
        output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    }
}

extension CommandResult {
    /// Expects that the command exited with a code and wrote texts, among others.
    ///
    /// - Parameters:
    ///   - errors: what it wrote to standard error.
    ///   - outputs: what it wrote to standard output.
    ///   - command: the command, for the failure.
    package func expect(
        exits code: Int32, says errors: [String], prints outputs: [String] = [],
        of command: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let comment: Comment = "\(command) \(self)"
        #expect(exitCode == code, comment, sourceLocation: sourceLocation)
        for text in errors {
            #expect(errorText.contains(text), comment, sourceLocation: sourceLocation)
        }
        for text in outputs {
            #expect(self.text.contains(text), comment, sourceLocation: sourceLocation)
        }
    }

    /// Expects that the command exited with a code and wrote texts, among others.
    package func expect(
        exits code: Int32, says errors: String..., prints outputs: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }
}

/// Compares everything a command did.
package func expect(
    _ result: CommandResult, exits code: Int32, prints output: String = "",
    complains errors: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(result.exitCode == code, sourceLocation: sourceLocation)
    #expect(result.text == output, sourceLocation: sourceLocation)
    #expect(result.errorText == errors, sourceLocation: sourceLocation)
}

extension CommandResult: CustomStringConvertible {
    package var description: String {
        "\(end), output \(quotedForMessages(output)), errors \(quotedForMessages(errorOutput))"
    }
}

/// A command that a test needed to succeed and that did not.
package struct CommandFailure: Error, CustomStringConvertible {
    package let command: String
    package let reason: String

    package var description: String { "\(command): \(reason)" }
}
