import CommandSupport
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The output style of `find`.
struct FoundStyle: Sendable {
    let form: RecordOptions.Form
    let showsSize: Bool
    let showsReasons: Bool
    let isSorted: Bool
}

/// The results of all threads, printed immediately or sorted at the end.
final class FoundResults: Sendable {
    private let style: FoundStyle
    private let kept: Monitor<[(path: [UInt8], record: [UInt8])]> = Monitor([])

    init(_ style: FoundStyle) {
        self.style = style
    }

    /// Creates a writer for one thread.
    func writer() -> FoundWriter { FoundWriter(style, self) }

    /// Prints the results that were kept for sorting.
    func finish() {
        let sorted = kept.withLock { $0 }.sorted { $0.path.lexicographicallyPrecedes($1.path) }
        var buffer = OutputBuffer()
        for result in sorted {
            buffer.append(bytes: result.record)
            buffer.endRecord()
        }
        buffer.flush()
    }

    fileprivate func keep(_ record: [UInt8], at path: [UInt8]) {
        kept.withLock { $0.append((path, record)) }
    }
}

/// Writes the results of one thread.
final class FoundWriter {
    private let style: FoundStyle
    private let results: FoundResults
    private var buffer = OutputBuffer()
    private var path: [UInt8] = []

    fileprivate init(_ style: FoundStyle, _ results: FoundResults) {
        self.style = style
        self.results = results
    }

    /// Writes an item, or keeps it for sorting.
    ///
    /// - Parameter decision: The effective values to print; nil to print the stored marks.
    func write(_ entry: borrowing TreeEntry, _ marks: Marks, _ decision: Decision?) {
        path.removeAll(keepingCapacity: true)
        entry.appendPath(to: &path)
        let size = style.showsSize ? allocatedSize(of: entry) : nil
        var record = OutputBuffer()
        if style.form == .json {
            record.append(bytes: object(entry.kind, marks, decision, size))
        } else {
            if style.showsSize {
                record.append(text: size.map { "\($0)" } ?? "-")
                record.append("\t")
            }
            path.withUnsafeBufferPointer { record.append(name: $0, in: style.form) }
            record.append(byte: style.form == .nulEnded ? 0 : UInt8(ascii: "\n"))
        }
        if style.isSorted {
            results.keep(record.bytes, at: path)
        } else {
            buffer.append(bytes: record.bytes)
            buffer.endRecord()
        }
    }

    /// Flushes the buffer.
    func finish() { buffer.flush() }

    private func object(
        _ kind: FileKind, _ marks: Marks, _ decision: Decision?, _ size: Int64?
    ) -> [UInt8] {
        var line = JSONLine.output()
        line.add(path: path)
        line.add("kind", kind.name)
        if let decision {
            for key in ResourceKey.storedKeys { line.add(key.name, decision.value(for: key)) }
            line.add("broken", strings: marks.brokenKeys.map(\.name))
            line.add("exclusionReason", decision.exclusion.name)
            line.add("purgeabilityReason", decision.purgeability.name)
            line.add("protectionReason", decision.protection.name)
        } else {
            line.add(marks)
        }
        if style.showsSize { line.add("fileAllocatedSize", size) }
        return line.ended()
    }

    /// Returns the allocated size in bytes; nil if the item is not a regular file or its status
    /// cannot be read.
    private func allocatedSize(of entry: borrowing TreeEntry) -> Int64? {
        do throws(Errno) {
            let status = try entry.status()
            return status.kind == .regularFile ? status.allocatedSize : nil
        } catch {
            return nil
        }
    }
}
