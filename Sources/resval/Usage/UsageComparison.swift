import CommandSupport
import SystemCalls
import SystemPackage
import UsageReporting

struct UsageComparison {
    private let file: PathArgument
    private var former = FormerUsage()

    /// - Throws: `FileError` when it cannot be read, is not such an output, or does not list all
    ///   directories.
    init(reading file: PathArgument) throws(FileError) {
        self.file = file
        let opened = try calls(on: file.path, FileError.opening) { () throws(Errno) in
            OwnedDescriptor(try openForReading(file.path))
        }
        var reader = DelimitedReader(opened.descriptor, endingWith: UInt8(ascii: "\n"))
        var isValid = true
        try calls(on: file.path) { () throws(Errno) in
            try reader.forEach { record in
                guard isValid else { return }
                if case .whole(let line) = record {
                    isValid = former.add(line)
                } else {
                    isValid = false
                }
            }
        }
        guard isValid, let listsAll = former.listsAll else {
            throw FileError(
                code: .other, message: "is not the output of resval usage --json",
                path: file.path)
        }
        guard listsAll else {
            throw FileError(
                code: .other, message: "does not list all directories",
                advice: "write it without --top, to the end", path: file.path)
        }
    }

    /// Prints the directories that grew, the most first, and by how much everything grew and shrank.
    ///
    /// - Returns: whether each ROOT is one of the older output. Otherwise nothing is compared.
    func write(_ report: UsageReport, _ options: UsageOutputOptions) -> Bool {
        var coversAll = true
        for root in report.roots where former.index(of: root.name, in: nil) == nil {
            Messages.write(
                about: root.path, "is not a ROOT of \(NameEscaping.text(file.bytes))")
            coversAll = false
        }
        guard coversAll else { return false }
        let (changes, shrunkBytes) = changes(in: report)
        let grownBytes = changes.reduce(Int64(0)) { $0.addingSaturating($1.grown) }
        let shown = changes.prefix(options.top ?? (options.json ? .max : 20))
        var buffer = OutputBuffer()
        for change in shown { write(change, asJSON: options.json, to: &buffer) }
        if !options.json {
            buffer.append(
                text: "grown by \(sizeText(grownBytes)), shrunk by \(sizeText(shrunkBytes)), "
                    + "\(sizeText(report.total.allocated)) on disk\n")
        }
        buffer.flush()
        return true
    }

    private struct Change {
        let directory: UsageDirectory
        let former: Int64
        let grown: Int64
    }

    /// Returns the directories that grew by themselves, the most first, and by how many bytes all
    /// others shrank.
    private func changes(in report: UsageReport) -> ([Change], shrunk: Int64) {
        var changes: [Change] = []
        // All that was in the ROOTs, less what is still in the same directory.
        var shrunk = report.roots.reduce(Int64(0)) { sum, root in
            let index = former.index(of: root.name, in: nil)
            return sum.addingSaturating(index.map { former.directories[$0].allocated } ?? 0)
        }
        /// The older directories from a ROOT down to the current one.
        var open: [Int?] = []
        report.forEachDirectory { directory in
            guard !directory.isForeignMount else { return false }
            open.removeLast(open.count - directory.depth)
            let index = former.index(of: directory.name, in: open.last ?? nil)
            open.append(index)
            let old = index.map { former.directories[$0] }
            let children = directory.children.reduce(Int64(0)) {
                $0.addingSaturating($1.allocated)
            }
            let own = directory.allocated.subtractingSaturating(children)
            let grown = own.subtractingSaturating(old?.own ?? 0)
            shrunk = shrunk.subtractingSaturating(min(own, old?.own ?? 0))
            if grown > 0 {
                changes.append(
                    Change(directory: directory, former: old?.allocated ?? 0, grown: grown))
            }
            return true
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
            buffer.append(text: "+\(sizeText(change.grown))".padded(to: 11) + "  ")
            buffer.append(name: change.directory.pathBytes)
            buffer.append("\n")
            buffer.endRecord()
        }
    }
}

/// The directories of an older output of `usage --json`. What it says is not trusted: sums hold, and
/// names lead nowhere.
struct FormerUsage {
    struct Directory {
        /// The index of the directory that it is in, which is smaller; nil for a ROOT.
        let parent: Int?
        /// The bytes on disk, with everything in it.
        let allocated: Int64
        /// The bytes on disk without those of the directories in it.
        fileprivate(set) var own: Int64
    }

    private struct Key: Hashable {
        let parent: Int?
        let name: [UInt8]
    }

    private(set) var directories: [Directory] = []
    /// Whether all directories are listed; nil before the totals.
    private(set) var listsAll: Bool?
    private var indexes: [Key: Int] = [:]
    /// The indexes of the directories from a ROOT down to the last one.
    private var open: [Int] = []

    /// Returns the index of a directory by its name, or of a ROOT by its path; nil if it was not
    /// listed.
    func index(of name: [UInt8], in parent: Int?) -> Int? {
        indexes[Key(parent: parent, name: name)]
    }

    /// - Returns: false when it is not one object of version 1 with all that it needs, or contradicts
    ///   another line.
    mutating func add(_ line: some Collection<UInt8>) -> Bool {
        guard var fields = try? JSONFields(Array(line)[...]), fields.number("version") == 1,
            let type = fields.text("type")
        else { return false }
        switch type {
        case "class": return true
        case "totals":
            guard self.listsAll == nil, let listsAll = fields.boolean("listsAll"),
                let isPartial = fields.boolean("isPartial")
            else { return false }
            self.listsAll = listsAll && !isPartial
            return true
        case "directory":
            guard let allocated: Int64 = fields.number("allocatedBytes"), allocated >= 0,
                let depth: Int = fields.number("depth"), (0...open.count).contains(depth),
                let name = Self.name(&fields, atDepth: depth)
            else { return false }
            open.removeLast(open.count - depth)
            return enter(name, allocated)
        default: return false
        }
    }

    /// Returns the path of a ROOT, of depth 0, and the name of another directory; nil when neither is
    /// valid.
    private static func name(_ fields: inout JSONFields, atDepth depth: Int) -> [UInt8]? {
        if case let path?? = fields.bytes("path") {
            guard FilePath(plainAbsolute: path)?.bytes == path else { return nil }
            let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) }
            return depth == 0 ? path : name
        }
        // Its path is too long to be listed.
        guard depth > 0, case let name?? = fields.bytes("name"),
            RelativePath(name)?.names.count == 1
        else { return nil }
        return name
    }

    private mutating func enter(_ name: [UInt8], _ allocated: Int64) -> Bool {
        let key = Key(parent: open.last, name: name)
        guard indexes.updateValue(directories.count, forKey: key) == nil else { return false }
        if let parent = key.parent {
            // Both are at least 0.
            directories[parent].own -= allocated
            guard directories[parent].own >= 0 else { return false }
        }
        open.append(directories.count)
        directories.append(Directory(parent: key.parent, allocated: allocated, own: allocated))
        return true
    }
}
