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
    /// The smallest allocated size that is printed, in bytes; nil if sizes do not matter.
    let smallestSize: Int64?
    let isSorted: Bool
    /// Whether directories have a colour.
    let isColored: Bool

    /// Whether the sizes of what is found have to be known.
    var needsSizes: Bool { showsSize || smallestSize != nil }
}

/// An item that was found.
struct FoundItem: Sendable {
    let path: [UInt8]
    let kind: FileKind
    let marks: Marks
    /// The effective values to print; nil to print the stored marks.
    let decision: Decision?
}

/// The results of all threads. They are printed immediately, but for directories whose size is
/// added up, and sorted results, which are printed at the end.
final class FoundResults: Sendable {
    private let style: FoundStyle
    private let kept: Monitor<[(path: [UInt8], record: [UInt8])]> = Monitor([])
    private let directories: Monitor<[(item: FoundItem, size: TreeSize)]> = Monitor([])

    init(_ style: FoundStyle) {
        self.style = style
    }

    /// Creates a writer for one thread.
    func writer() -> FoundWriter { FoundWriter(style, self) }

    /// Prints the results that were kept.
    func finish() {
        let writer = writer()
        let directories = directories.withLock { $0 }
        // After a stop the sizes are not those of the whole directories.
        if !StopRequest.isMade {
            TreeSize.addUp(directories.map(\.size))
            for directory in directories { writer.write(directory.item, directory.size.total) }
        }
        writer.finish()
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

    fileprivate func addUp(_ item: FoundItem, in parent: TreeSize?) -> TreeSize {
        let size = TreeSize(in: parent)
        directories.withLock { $0.append((item, size)) }
        return size
    }
}

/// Writes the results of one thread.
final class FoundWriter {
    private let style: FoundStyle
    private let results: FoundResults
    private var buffer = OutputBuffer()

    fileprivate init(_ style: FoundStyle, _ results: FoundResults) {
        self.style = style
        self.results = results
    }

    /// Writes an item that was found, and adds an item to the size of a directory.
    ///
    /// - Parameters:
    ///   - found: what was found on the item; nil if it does not match the filters.
    ///   - tree: the size to which the item is added, or nil.
    /// - Returns: the size to which the entries of the item are added, or nil.
    func note(
        _ entry: borrowing TreeEntry, _ found: (marks: Marks, decision: Decision?)?,
        in tree: TreeSize?, _ reporter: WalkReporter
    ) -> TreeSize? {
        let status = style.needsSizes ? reporter.status(of: entry) : nil
        var inner = tree
        if let found {
            var path: [UInt8] = []
            entry.appendPath(to: &path)
            let item = FoundItem(
                path: path, kind: entry.kind, marks: found.marks, decision: found.decision)
            if style.needsSizes, status?.kind == .directory {
                inner = results.addUp(item, in: tree)
            } else {
                write(item, status?.kind == .regularFile ? status?.allocatedSize : nil)
            }
        }
        if let inner, let status { inner.add(status) }
        return inner
    }

    /// Writes an item, or keeps it for sorting.
    ///
    /// - Parameter size: the allocated size in bytes; nil if it is not known.
    func write(_ item: FoundItem, _ size: Int64?) {
        if let smallest = style.smallestSize, (size ?? -1) < smallest { return }
        var record = OutputBuffer()
        if style.form == .json {
            record.append(bytes: object(item, size))
        } else {
            if style.showsSize {
                record.append(text: size.map { "\($0)" } ?? "-")
                record.append("\t")
            }
            let color: OutputColor? = style.isColored && item.kind == .directory ? .blue : nil
            record.append(in: color) { record in
                item.path.withUnsafeBufferPointer { record.append(name: $0, in: style.form) }
            }
            record.append(byte: style.form == .nulEnded ? 0 : UInt8(ascii: "\n"))
        }
        if style.isSorted {
            results.keep(record.bytes, at: item.path)
        } else {
            buffer.append(bytes: record.bytes)
            buffer.endRecord()
        }
    }

    /// Flushes the buffer.
    func finish() { buffer.flush() }

    private func object(_ item: FoundItem, _ size: Int64?) -> [UInt8] {
        var line = JSONLine.output()
        line.add(path: item.path)
        line.add("kind", item.kind.name)
        if let decision = item.decision {
            for key in StoredKey.allCases { line.add(key.name, decision.value(for: key)) }
            line.add("broken", strings: item.marks.brokenKeys.map(\.name))
            line.add("exclusionReason", decision.exclusion.name)
            line.add("exclusionSentence", decision.exclusion.sentence)
            line.add("purgeabilityReason", decision.purgeability.name)
            line.add("protectionReason", decision.protection.name)
        } else {
            line.add(item.marks)
        }
        if style.showsSize { line.add("fileAllocatedSize", size) }
        return line.ended()
    }
}
