import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A walk in a process of its own.
struct WalkTool: Sendable, CustomTestStringConvertible {
    var threadCount = 2
    /// Whether the kernel's xattrat calls are taken away.
    var isWithoutDirectoryForms = false
    /// The hard limit on open descriptors; nil for this process's own.
    var descriptorLimit: Int?
    var options: [String] = []
    /// The user to run as, which must be able to reach the programs in `programs`.
    var user: UInt32?
    /// Where the programs lie; nil for the build's own.
    var programs: FilePath?
    var workingDirectory: FilePath?

    /// One, two and eight threads, with the xattrat calls and without.
    static let allWays = [1, 2, 8].flatMap { count in
        [false, true].map { WalkTool(threadCount: count, isWithoutDirectoryForms: $0) }
    }

    var testDescription: String {
        "\(threadCount) threads\(isWithoutDirectoryForms ? " without xattrat" : "")"
    }

    /// Walks and gives what was visited and what could not be read.
    func walk(_ roots: any CommandArgument...) throws -> Visits {
        try Visits(run(options, roots).output)
    }

    /// Walks and gives the counts.
    func summary(_ roots: any CommandArgument...) throws -> Summary {
        try Summary(run(options + ["--summary"], roots).text)
    }

    private func run(
        _ options: [String], _ roots: [any CommandArgument]
    ) throws -> CommandResult {
        var words: [any CommandArgument] = [
            program("test-tool"), "walk", "--threads", "\(threadCount)",
        ]
        words += options
        words += roots
        if isWithoutDirectoryForms {
            words = [program("without-calls"), "xattrat", "ENOSYS"] + words
        }
        if let descriptorLimit {
            words = ["/bin/sh", "-c", "ulimit -n \(descriptorLimit); exec \"$@\"", "sh"] + words
        }
        let result = try Command(
            FilePath(bytes: words[0].argumentBytes), arguments: Array(words.dropFirst()),
            in: workingDirectory, user: user
        ).run()
        try #require(result.exitCode == 0, "\(result)")
        return result
    }

    private func program(_ name: String) -> FilePath {
        programs?.appending(name) ?? .built(name)
    }
}

/// What a walk visited.
struct Visits: Equatable {
    /// Paths, sorted; one as often as it was visited.
    var paths: [[UInt8]]
    /// Codes with paths, sorted.
    var failures: [String]

    init(_ output: [UInt8]) {
        let mark = Array("! ".utf8)
        let records = sortedRecords(output)
        failures = records.filter { $0.starts(with: mark) }
            .map { String(decoding: $0.dropFirst(2), as: UTF8.self) }
        paths = records.filter { !$0.starts(with: mark) }
    }
}

/// The counts of a walk.
struct Summary {
    let lines: [String]

    init(_ text: String) { lines = text.split(separator: "\n").map(String.init) }

    func number(_ name: String) throws -> Int {
        let line = try #require(lines.first { $0.hasPrefix(name + " ") }, "\(lines)")
        return try #require(Int(line.dropFirst(name.count + 1)), "\(line)")
    }

    func expectNothingLeftBehind(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(lines.contains("leaked descriptors 0"), "\(lines)", sourceLocation: sourceLocation)
        #expect(
            lines.contains("same working directory true"), "\(lines)",
            sourceLocation: sourceLocation)
    }
}

/// The paths below a directory, the directory included, as find(1) lists them; sorted.
func listing(of root: FilePath, _ options: String...) throws -> [[UInt8]] {
    let find = try #require(FilePath.tool("find"))
    let result = try Command(find, arguments: [root] + options + ["-print0"]).run()
    try #require(result.exitCode == 0, "\(result)")
    return sortedRecords(result.output)
}

/// NUL-ended records in the order of their bytes, by C's functions: megabytes of them are compared,
/// byte by byte, in code that is not optimized.
private func sortedRecords(_ output: [UInt8]) -> [[UInt8]] {
    output.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, bytes.last == 0 else { return [] }
        let end = start + bytes.count
        var records: [UnsafePointer<CChar>] = []
        var next = start
        while next < end {
            let record = next.assumingMemoryBound(to: CChar.self)
            records.append(record)
            next += strlen(record) + 1
        }
        records.sort { strcmp($0, $1) < 0 }
        return records.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}
