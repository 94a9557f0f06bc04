import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import UsageReporting

/// The comparison with an older output of `usage --json`.
struct UsageComparison {
    private let file: PathArgument
    /// The allocated bytes of directories by path.
    private var former: [FilePath: Int64] = [:]

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
        var listsAll: Bool?
        do throws(Errno) {
            try reader.forEach { record in
                guard case .whole(let bytes) = record, let line = FormerLine(Array(bytes)[...])
                else {
                    isValid = false
                    return
                }
                if let path = line.path, let allocated = line.allocated {
                    former[path] = allocated
                }
                if line.isTotals { listsAll = line.listsAll && !line.isPartial }
            }
        } catch {
            throw FileError(error, of: file.path)
        }
        guard isValid, let listsAll else {
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
        for root in report.roots where former[root.path] == nil {
            Messages.write(
                about: root.path, "is not a ROOT of \(NameEscaping.text(file.bytes))")
            coversAll = false
        }
        let (changes, shrunkBytes) = changes(in: report)
        let grownBytes = changes.reduce(Int64(0)) { $0.addingSaturating($1.grown) }
        let shown = changes.filter { $0.directory.depth <= options.depth ?? .max }
            .sorted { $0.precedes($1) }
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

        /// Whether it comes before another: the one that grew more, or in the order of paths.
        func precedes(_ other: Change) -> Bool {
            grown == other.grown
                ? directory.pathBytes.lexicographicallyPrecedes(other.directory.pathBytes)
                : grown > other.grown
        }
    }

    /// Returns the directories that grew by themselves, and by how many bytes all others shrank.
    private func changes(in report: UsageReport) -> ([Change], shrunk: Int64) {
        var own = ownBytes(of: former)
        var changes: [Change] = []
        var shrunk: Int64 = 0
        report.forEachDirectory { directory in
            guard directory.isListed else { return false }
            let path = directory.path
            let children = directory.children.filter(\.isListed).reduce(Int64(0)) {
                $0.addingSaturating($1.allocated)
            }
            let grown = directory.allocated.subtractingSaturating(children)
                .subtractingSaturating(own.removeValue(forKey: path) ?? 0)
            if grown > 0 {
                changes.append(
                    Change(directory: directory, former: former[path] ?? 0, grown: grown))
            } else {
                shrunk.addSaturating(Int64(0).subtractingSaturating(grown))
            }
            return true
        }
        let roots = report.roots.map(\.path)
        for (path, bytes) in own where roots.contains(where: { path.isHeld(by: $0) }) {
            shrunk.addSaturating(bytes)
        }
        return (changes, shrunk)
    }

    /// Returns what belongs to each directory itself: without what is listed of those in it.
    private func ownBytes(of sums: [FilePath: Int64]) -> [FilePath: Int64] {
        var own = sums
        for (path, bytes) in sums where path.lastComponent != nil {
            let parent = path.removingLastComponent()
            if let sum = own[parent] { own[parent] = sum.subtractingSaturating(bytes) }
        }
        return own
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

/// A line of an older output.
private struct FormerLine {
    var path: FilePath?
    var allocated: Int64?
    var isTotals = false
    var listsAll = false
    var isPartial = false

    /// Parses a line; nil when it is not one object of version 1.
    init?(_ bytes: ArraySlice<UInt8>) {
        var version: Int64?
        var type = ""
        var found: [UInt8]?
        var scanner = JSONScanner(bytes, hasLostBytes: false)
        do throws(JSONError) {
            try scanner.forEachField { field, name throws(JSONError) in
                switch name {
                case "version": version = try field.integer()
                case "type": type = try field.text()
                case "path": if try !field.takesNull() { found = try field.string() }
                case "pathBase64": found = try field.base64()
                case "allocatedBytes": allocated = try field.amount()
                case "listsAll": listsAll = try field.bool()
                case "isPartial": isPartial = try field.bool()
                default: break
                }
            }
        } catch {
            return nil
        }
        guard version == 1, ["directory", "class", "totals"].contains(type) else { return nil }
        isTotals = type == "totals"
        if type == "directory" {
            guard let found, let absolute = FilePath(plainAbsolute: found) else { return nil }
            path = absolute
        }
    }
}
