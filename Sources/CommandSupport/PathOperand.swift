import ArgumentParser

/// One path among a command's operands, or a run of them.
///
/// The parser takes time that grows with the square of the number of arguments, so
/// ``ArgumentPacking`` passes it a run of operands as one argument.
package struct PathOperand: ExpressibleByArgument, Sendable, Hashable {
    fileprivate let paths: [PathArgument]

    /// Creates the paths from an argument in the form of ``ArgumentPacking``.
    package init?(argument: String) {
        paths = ArgumentBytes.bytes(of: argument)
            .split(separator: 0, omittingEmptySubsequences: false)
            .map { PathArgument(bytes: $0) }
    }

    /// The completion of file names in shells.
    package static var defaultCompletionKind: CompletionKind { .file() }
}

extension [PathOperand] {
    /// The paths in the order in which they were given.
    package var paths: [PathArgument] { flatMap(\.paths) }
}

/// Packs runs of operands into one argument each.
enum ArgumentPacking {
    /// A NUL in the form of ``ArgumentBytes``, which no argument of a process contains.
    static let separator: Unicode.Scalar = "\u{F700}"

    /// The first operands may be something else than paths, such as a key, and a command tells one
    /// path from several: these are not packed.
    private static let unpackedCount = 8

    /// Returns the arguments, with each run of what can only be operands as one.
    ///
    /// An operand begins with no dash, and does not follow an argument that does, whose value it
    /// might be; or it comes after `--`.
    static func packed(_ arguments: [String]) -> [String] {
        guard arguments.count > 2 * unpackedCount else { return arguments }
        var result: [String] = []
        var run: [String] = []
        var isAfterTerminator = false
        var followsOption = true
        var count = 0
        for argument in arguments {
            let beginsWithDash = argument.utf8.first == UInt8(ascii: "-")
            if isAfterTerminator || (!beginsWithDash && !followsOption) {
                count += 1
                if count > unpackedCount {
                    run.append(argument)
                    continue
                }
            }
            append(&run, to: &result)
            result.append(argument)
            if argument == "--" { isAfterTerminator = true }
            followsOption = beginsWithDash
        }
        append(&run, to: &result)
        return result
    }

    private static func append(_ run: inout [String], to result: inout [String]) {
        if !run.isEmpty { result.append(run.joined(separator: String(separator))) }
        run = []
    }
}
