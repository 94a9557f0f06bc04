import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import UsageReporting

/// The comparison with an older output of `usage --json`.
struct UsageComparison {
    private let file: PathArgument
    private var former = FormerUsage()

    /// Reads the older output.
    ///
    /// - Throws: `FileError` when it cannot be read, is not such an output, or does not list all
    ///   directories.
    init(reading file: PathArgument) throws(FileError) {
        self.file = file
        let opened: OwnedDescriptor
        do throws(Errno) {
            opened = OwnedDescriptor(try openFile(file.path, flags: .readOnly))
        } catch {
            throw .opening(error, file.path)
        }
        var reader = DelimitedReader(opened.descriptor, endingWith: UInt8(ascii: "\n"))
        var isValid = true
        do throws(Errno) {
            try reader.forEach { record in
                guard isValid else { return }
                if case .whole(let line) = record {
                    isValid = former.add(line)
                } else {
                    isValid = false
                }
            }
        } catch {
            throw FileError(error, of: file.path)
        }
        guard isValid, let listsAll = former.listsAll else {
            throw FileError(
                code: .other, message: "is not the output of resval usage --json",
                path: file.path)
        }
        guard listsAll else {
            throw FileError(
                code: .other, message: "does not list all directories",
                advice: "write it without --top and --depth, to the end", path: file.path)
        }
    }

    /// Prints the directories that grew, the most first, and by how much everything grew and shrank.
    ///
    /// - Returns: whether the older output covers all ROOTs.
    func write(_ report: UsageReport, _ options: UsageOutputOptions) -> Bool {
        var coversAll = true
        for root in report.roots where former.index(at: root.pathBytes) == nil {
            Messages.write(
                about: root.path, "is not a ROOT of \(NameEscaping.text(file.bytes))")
            coversAll = false
        }
        let (changes, shrunkBytes) = changes(in: report)
        let grownBytes = changes.reduce(Int64(0)) { $0.addingSaturating($1.grown) }
        let shown = changes.filter { $0.directory.depth <= options.depth ?? .max }
            .prefix(options.top ?? (options.json ? .max : 20))
        var buffer = OutputBuffer()
        for change in shown { write(change, asJSON: options.json, to: &buffer) }
        if !options.json {
            buffer.append(
                text: "grown by \(sizeText(grownBytes)), shrunk by \(sizeText(shrunkBytes)), "
                    + "\(sizeText(report.total.allocated)) on disk\n")
        }
        buffer.flush()
        return coversAll
    }

    /// A directory that grew by itself.
    private struct Change {
        let directory: UsageDirectory
        let former: Int64
        let grown: Int64
    }

    /// Returns the directories that grew by themselves, the most first, and by how many bytes all
    /// others shrank.
    private func changes(in report: UsageReport) -> ([Change], shrunk: Int64) {
        var changes: [Change] = []
        var shrunk: Int64 = 0
        /// Whether the older directories are in this report.
        var isMet = former.directories.map { _ in false }
        /// The older directories from a ROOT down to the current one.
        var open: [Int?] = []
        report.forEachDirectory { directory in
            guard directory.isListed else { return false }
            open.removeLast(open.count - directory.depth)
            var index: Int?
            if let above = open.last ?? nil {
                index = former.index(of: directory.name, in: above)
            } else if directory.depth == 0 {
                index = former.index(at: directory.pathBytes)
            } else {
                // It may be a ROOT of the older output.
                index = directory.pathBytes(upTo: longestListedPath).flatMap {
                    former.index(of: $0, in: nil)
                }
            }
            open.append(index)
            if let index { isMet[index] = true }
            let old = index.map { former.directories[$0] }
            let children = directory.children.reduce(Int64(0)) {
                $0.addingSaturating($1.allocated)
            }
            let grown = directory.allocated.subtractingSaturating(children)
                .subtractingSaturating(old?.own ?? 0)
            if grown > 0 {
                changes.append(
                    Change(directory: directory, former: old?.allocated ?? 0, grown: grown))
            } else {
                shrunk.addSaturating(Int64(0).subtractingSaturating(grown))
            }
            return true
        }
        // What was in a ROOT of this report, and is no more.
        var isCovered = isMet
        for (index, directory) in former.directories.enumerated() {
            if let parent = directory.parent, isCovered[parent] { isCovered[index] = true }
            if isCovered[index], !isMet[index] { shrunk.addSaturating(directory.own) }
        }
        let sorted = changes.enumerated().sorted {
            ($1.element.grown, $0.offset) < ($0.element.grown, $1.offset)
        }
        return (sorted.map(\.element), shrunk)
    }

    private func write(_ change: Change, asJSON isJSON: Bool, to buffer: inout OutputBuffer) {
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "change")
            line.add(path: change.directory.pathBytes)
            line.add("allocatedBytes", change.directory.allocated)
            line.add("formerBytes", change.former)
            line.add("grownBytes", change.grown)
            line.end(in: &buffer)
        } else {
            let size = "+\(sizeText(change.grown))"
            buffer.append(
                text: String(repeating: " ", count: max(11 - size.count, 0)) + size + "  ")
            buffer.append(name: change.directory.pathBytes)
            buffer.append("\n")
            buffer.endRecord()
        }
    }
}
