import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// The list of evicted files that `evict --list` prints.
struct EvictedList {
    let isJSON: Bool

    static let fields = """
          type evicted:
            path: string or null
            pathBase64: string, optional
            state: string (evicted, cut-off, exposed, changed, unrecorded)
            size: number
            modified: time
            repository: string or null (null without a record)
            snapshot: string or null (its first 16 digits)
            item: number or null
        """

    /// Looks through directories, without any path through the home, and prints what is found.
    ///
    /// - Throws: `ExitCode` 3 when something could not be read.
    func run(_ paths: [FilePath], _ display: Progress) throws {
        var buffer = OutputBuffer()
        var troubles: [FileError] = []
        for file in try evictedFiles(below: paths, report: { troubles.append($0) }) {
            if let sign = file.sign { write(file, sign, to: &buffer) }
        }
        display.end()
        buffer.flush()
        for trouble in troubles { Messages.write(trouble) }
        if !troubles.isEmpty { throw ExitCode(3) }
    }

    private func write(
        _ file: RegularFiles.File, _ sign: EvictionSign, to buffer: inout OutputBuffer
    ) {
        guard !isJSON else {
            var line = JSONLine.output()
            line.add("type", "evicted")
            line.add(path: file.path.bytes)
            line.add("state", sign.state)
            line.add("size", file.status.size)
            line.add("modified", file.status.contentModificationTime)
            line.add("repository", sign.record?.repository)
            line.add("snapshot", sign.record?.snapshot)
            line.add("item", sign.record?.item)
            return line.end(in: &buffer)
        }
        buffer.append(path: file.path)
        buffer.append(text: ": \(sign.state), \(sizeText(file.status.size))")
        if let record = sign.record {
            buffer.append(text: " in snapshot \(record.snapshot.prefix(8)) of repository ")
            buffer.append(text: "\(record.repository.prefix(8))")
        }
        buffer.append("\n")
        buffer.endRecord()
    }
}

extension EvictionSign {
    /// The name of the file's state, as printed.
    fileprivate var state: String {
        switch self {
        case .placeholder: "evicted"
        case .unfinished: "cut-off"
        case .exposed: "exposed"
        case .stale: "changed"
        case .unrecorded: "unrecorded"
        }
    }
}
