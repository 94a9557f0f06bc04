import CommandSupport
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage
import UsageReporting

/// An export for ncdu and gdu, in ncdu's JSON format 1.2.
///
/// The format lists the entries of a directory together, which the walk of several threads does not
/// meet together. So what the walk meets goes to a file without a name, and memory grows with the
/// number of directories only.
final class NcduExport: Sendable {
    /// A run of entries of one directory in the scratch file, or the start of its own object.
    fileprivate struct Block {
        let directory: UInt32
        let isHead: Bool
        let start: Int64
        let length: Int32
    }

    private struct State {
        var blocks: [Block] = []
        var end: Int64 = 0
        var failure: Errno?
    }

    private let path: PathArgument
    private let scratchDirectory: FilePath
    private let scratch: SharedDescriptor
    private let state = Monitor(State())

    init(to path: PathArgument) throws(FileError) {
        self.path = path
        let parent = path.path.removingLastComponent()
        scratchDirectory =
            path.isDash
            ? environmentVariable("TMPDIR").map { FilePath(bytes: $0) } ?? "/var/tmp"
            : parent.isEmpty ? "." : parent
        do throws(Errno) {
            scratch = SharedDescriptor(try makeScratchFile(in: scratchDirectory))
        } catch {
            throw FileError(error, of: scratchDirectory)
        }
    }

    /// Creates the observer of one thread.
    func observer() -> some UsageObserver { NcduObserver(self) }

    /// Adds a part of what is written about a directory; a failure is thrown by ``write(_:)``.
    func add(_ bytes: [UInt8], of directory: UInt32, isHead: Bool) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            guard state.failure == nil else { return }
            do throws(Errno) {
                try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
                    try writeFile(
                        scratch.descriptor, UnsafeRawBufferPointer(bytes), at: state.end)
                }
                state.blocks.append(
                    Block(
                        directory: directory, isHead: isHead, start: state.end,
                        length: Int32(clamping: bytes.count)))
                state.end += Int64(bytes.count)
            } catch {
                state.failure = error
            }
        }
    }

    /// Writes the export.
    func write(_ report: UsageReport) throws(FileError) {
        let (blocks, failure) = state.withLock { state in
            (
                state.blocks.sorted { ($0.directory, $0.start) < ($1.directory, $1.start) },
                state.failure
            )
        }
        if let failure { throw FileError(failure, of: scratchDirectory) }
        if path.isDash {
            return try write(report, blocks) { StandardOutput.shared.write($0) }
        }
        var file = try OutputFile(at: path.path)
        try write(report, blocks) { bytes throws(FileError) in try file.write(bytes) }
        try file.finish()
    }

    private func write(
        _ report: UsageReport, _ blocks: [Block], to sink: ([UInt8]) throws(FileError) -> Void
    ) throws(FileError) {
        try sink(
            Array(
                """
                [1,2,{"progname":"resval","progver":"\(CommandVersion.text)",\
                "timestamp":\(FileTime.now.seconds)},
                """.utf8) + [UInt8(ascii: "\n")])
        let hasTop = report.roots.count != 1 || report.roots.contains(where: \.isFile)
        if hasTop { try sink(Array(#"[{"name":"/","asize":0,"dsize":0}"#.utf8)) }
        // A directory that is begun, with the directories in it that are left.
        var open: [[UsageDirectory]] = [report.roots.reversed()]
        var isFirst = !hasTop
        while var rest = open.popLast() {
            guard let directory = rest.popLast() else {
                if !open.isEmpty { try sink([UInt8(ascii: "]")]) }
                continue
            }
            open.append(rest)
            if !isFirst, !directory.isFile { try sink(Array(",\n".utf8)) }
            isFirst = false
            try begin(directory, blocks, sink)
            if !directory.isFile { open.append(directory.children) }
        }
        try sink(Array((hasTop ? "]]\n" : "]\n").utf8))
    }

    /// Writes the start of a directory and its entries other than directories.
    private func begin(
        _ directory: UsageDirectory, _ blocks: [Block],
        _ sink: ([UInt8]) throws(FileError) -> Void
    ) throws(FileError) {
        let own = blocks[ofDirectory: directory.number]
        if !directory.isFile {
            var head: [UInt8] = []
            for block in own where block.isHead { head += try read(block) }
            if head.isEmpty {
                NcduEntry.begin(named: directory.name, to: &head)
                head += #","asize":0,"dsize":0"#.utf8
            }
            if directory.isForeignMount {
                head += #","excluded":"otherfs""#.utf8
            } else if !directory.wasRead {
                head += #","read_error":true"#.utf8
            }
            try sink([UInt8(ascii: "[")] + head + [UInt8(ascii: "}")])
        }
        for block in own where !block.isHead { try sink(try read(block)) }
    }

    private func read(_ block: Block) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(block.length))
        do throws(Errno) {
            var count = 0
            while count < bytes.count {
                let next = try bytes.withUnsafeMutableBufferPointer { bytes throws(Errno) in
                    let rest = UnsafeMutableBufferPointer(rebasing: bytes[count...])
                    return try readFile(
                        scratch.descriptor, at: block.start + Int64(count),
                        into: UnsafeMutableRawBufferPointer(rest))
                }
                guard next > 0 else { throw .ioError }
                count += next
            }
        } catch {
            throw FileError(error, of: scratchDirectory)
        }
        return bytes
    }
}

extension [NcduExport.Block] {
    /// Returns the blocks of a directory, of blocks that are sorted by directory.
    fileprivate subscript(ofDirectory number: UInt32) -> ArraySlice<NcduExport.Block> {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].directory < number { low = middle + 1 } else { high = middle }
        }
        let end = self[low...].firstIndex { $0.directory != number } ?? endIndex
        return self[low..<end]
    }
}
