import EffectiveValues
import FileTree
import StoragePolicy
import UsageReporting

/// What a page names besides directories, found while usage is measured: the largest files, and what
/// tools re-create.
final class PageFindings: Sendable {
    struct LargeFile: Sendable {
        let name: [UInt8]
        /// The number of its directory.
        let directory: UInt32
        let allocated: Int64
        let value: UsageClass
    }

    /// The most files that a page has: so many that the largest hundred of most directories are among
    /// them.
    static let fileLimit = 10_000

    private struct Found {
        var files: [LargeFile] = []
        /// By the numbers of the directories.
        var recreations: [UInt32: Recreation] = [:]
    }

    private let found = Monitor(Found())

    /// The largest files, the largest first.
    var files: [LargeFile] { found.withLock { $0.files.largest(Self.fileLimit) } }

    /// Returns the rule by which a tool makes a directory again; nil if there is none.
    func recreation(of directory: UsageDirectory) -> Recreation? {
        found.withLock { $0.recreations[directory.number] }
    }

    fileprivate func add(_ files: [LargeFile], _ recreations: [UInt32: Recreation]) {
        found.withLock {
            $0.files += files
            $0.recreations.merge(recreations) { first, _ in first }
        }
    }
}

struct PageObserver: UsageObserver {
    let findings: PageFindings
    /// Reads the rules for what tools re-create.
    let reader: MarkReader
    var files: [PageFindings.LargeFile] = []
    /// Smaller files are not among the largest.
    var smallest: Int64 = 1
    var recreations: [UInt32: Recreation] = [:]

    mutating func note(directory: borrowing TreeEntry, _ status: FileStatus, number: UInt32) {
        // What cannot be read is reported by the walk, and not proposed.
        let marks = try? reader.marks(of: directory, kind: .directory)
        if let recreation = marks?.foreign.recreation { recreations[number] = recreation }
    }

    mutating func note(
        file: borrowing TreeEntry, _ status: FileStatus, _ value: UsageClass, in directory: UInt32
    ) {
        guard status.allocatedSize >= smallest else { return }
        files.append(
            PageFindings.LargeFile(
                name: file.nameBytes, directory: directory, allocated: status.allocatedSize,
                value: value))
        guard files.count == 2 * PageFindings.fileLimit else { return }
        files = files.largest(PageFindings.fileLimit)
        smallest = files.last?.allocated ?? smallest
    }

    mutating func finish() { findings.add(files, recreations) }
}

extension [PageFindings.LargeFile] {
    fileprivate func largest(_ count: Int) -> [PageFindings.LargeFile] {
        Array(
            sorted { first, second in
                first.allocated == second.allocated
                    ? first.name.lexicographicallyPrecedes(second.name)
                    : first.allocated > second.allocated
            }.prefix(count))
    }
}
