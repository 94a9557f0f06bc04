import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import UsageReporting

/// What `usage` prints for people: what happens to the bytes, and the largest directories.
struct UsageScreen {
    private let report: UsageReport
    private let isColored: Bool
    private let directories: [UsageDirectory]

    init(_ report: UsageReport, _ options: UsageOutputOptions, isColored: Bool) {
        self.report = report
        self.isColored = isColored
        directories = report.largestDirectories(options.top ?? 20)
    }

    func write() {
        var buffer = OutputBuffer()
        writeHead(to: &buffer)
        if !directories.isEmpty {
            buffer.append("\n")
            writeTree(to: &buffer)
        }
        buffer.flush()
    }

    // MARK: Head

    private func writeHead(to buffer: inout OutputBuffer) {
        let total = report.total
        let sums = UsageColumn.titled.map { column in
            let mostly = column.field == "freedBytes" && report.freedIsAtMost ? "at most " : ""
            return "\(mostly)\(sizeText(column.sum(total))) \(column.title ?? "")"
        }
        buffer.append(line: (sums + [counted(total.fileCount, "file")]).joined(separator: ", "))
        writeRow("backed up", to: &buffer) { $0.exclusion == nil ? "" : nil }
        writeRow("excluded", to: &buffer) {
            guard let exclusion = $0.exclusion else { return nil }
            return exclusion.name == "marked" ? "marked" : exclusion.detail ?? exclusion.name
        }
        writeRow("purgeable", to: &buffer) { value in
            if case .purgeable = value.purging { value.purging.name } else { nil }
        }
        writeRow("class", to: &buffer) { $0.protectionWords }
        writeRow("location", to: &buffer) { $0.location?.words }
        let count = report.problems.count
        if count > 0 {
            buffer.append(
                text: "  incomplete: \(counted(count, "item")) could not be read\n")
        }
        if report.isPartial { buffer.append("  incomplete: the walk was interrupted\n") }
        if report.countsClonesInFull {
            buffer.append("  clones count in full: add --exact to count shared extents once\n")
        }
    }

    /// Writes the sum of what has a part, and its parts by name, the largest first; nothing for a sum
    /// of 0.
    private func writeRow(
        _ name: String, to buffer: inout OutputBuffer, part: (UsageClass) -> String?
    ) {
        let parts = report.amounts(by: part).compactMap { part, amount in
            part.map { (name: $0, size: amount.allocated) }
        }
        let sum = parts.reduce(Int64(0)) { $0.addingSaturating($1.size) }
        guard sum > 0 else { return }
        let width = 21 - name.count
        let named = parts.filter { !$0.name.isEmpty && $0.size > 0 }
            .sorted { ($1.size, $0.name) < ($0.size, $1.name) }
            .map { "\($0.name) \(sizeText($0.size))" }
        let list = named.isEmpty ? "" : "  (\(named.joined(separator: ", ")))"
        buffer.append(line: "  \(name):\(sizeText(sum).padded(to: width))\(list)")
    }

    // MARK: Tree

    private func writeTree(to buffer: inout OutputBuffer) {
        let columns = StandardOutput.shared.columnCount
        // A size, a percentage, and the spaces around the bar.
        let room = columns - 10 - 6 - 4
        let barWidth = max(room - (directories.map(nameWidth).max() ?? 0), room / 3)
        for directory in directories {
            let share = Double(directory.allocated) / Double(max(report.total.allocated, 1))
            buffer.append(text: sizeText(directory.allocated).padded(to: 10))
            buffer.append(text: "\(Int(share * 100))".padded(to: 4) + " %  ")
            writeBar(of: directory, width: barWidth, to: &buffer)
            let (before, after) = ("  " + indentation(of: directory), notes(on: directory))
            let width = room + 2 - barWidth - before.count - after.count
            buffer.append(text: before)
            buffer.append(bytes: Array(name(of: directory, width: width).utf8))
            buffer.append(text: after + "\n")
        }
    }

    /// The name, escaped, and on a terminal without its middle where it is wider.
    private func name(of directory: UsageDirectory, width: Int) -> String {
        let name = NameEscaping.text(directory.name)
        let (scalars, width) = (name.unicodeScalars, max(width, 8))
        guard StandardOutput.shared.isTerminal, scalars.count > width else { return name }
        return String(scalars.prefix(width / 2)) + "…" + String(scalars.suffix((width - 1) / 2))
    }

    private func nameWidth(_ directory: UsageDirectory) -> Int {
        indentation(of: directory).count + notes(on: directory).count
            + NameEscaping.text(directory.name).unicodeScalars.count
    }

    private func indentation(of directory: UsageDirectory) -> String {
        String(repeating: "  ", count: min(directory.depth, 32))
    }

    private func notes(on directory: UsageDirectory) -> String {
        var notes = ""
        if directory.isForeignMount {
            notes += " (another filesystem, not entered)"
        } else if !directory.wasRead {
            notes += " (not read)"
        }
        if directory.sharedBelow > 0 {
            notes += " (\(sizeText(directory.sharedBelow)) shared below)"
        }
        return notes
    }

    /// Writes a bar in proportion to the total, with a part for each fate.
    private func writeBar(
        of directory: UsageDirectory, width: Int, to buffer: inout OutputBuffer
    ) {
        let total = Double(max(report.total.allocated, 1))
        var (sum, drawn) = (Int64(0), 0)
        for fate in UsageFate.allCases {
            sum.addSaturating(directory.allocated(fate))
            let end = Int((Double(sum) / total * Double(width)).rounded())
            guard end > drawn else { continue }
            buffer.append(
                text: String(repeating: fate.sign, count: end - drawn),
                in: isColored ? fate.color : nil)
            drawn = end
        }
        buffer.append(text: String(repeating: " ", count: max(width - drawn, 0)))
    }
}

extension UsageFate {
    fileprivate var sign: Character {
        switch self {
        case .backedUp: "#"
        case .protected: "+"
        case .excluded: "-"
        case .purgeable: "~"
        }
    }

    fileprivate var color: OutputColor {
        switch self {
        case .backedUp: .green
        case .protected: .cyan
        case .excluded: .yellow
        case .purgeable: .magenta
        }
    }
}

extension UsageClass {
    /// The protection class with its verdict; nil if there is none.
    var protectionWords: String? {
        protection.map { [$0.rawValue, verdict?.rawValue].compactMap(\.self) }?
            .joined(separator: " ")
    }
}

extension StorageLocation.Kind {
    fileprivate var words: String {
        switch self {
        case .temporary: "temporary files"
        case .caches: "caches"
        case .applicationSupport: "application data"
        case .documents: "documents"
        }
    }
}

extension UsageReport {
    /// Returns the largest directories, each after the one that contains it, and the larger of two
    /// in the same directory first.
    ///
    /// - Parameter count: the greatest number of them; roots count.
    func largestDirectories(_ count: Int) -> [UsageDirectory] {
        var chosen: Set<UInt32> = []
        var waiting = Array(roots.sorted { $0.precedes($1) }.prefix(count))
        while chosen.count < count, !waiting.isEmpty {
            let directory = waiting.removeFirst()
            chosen.insert(directory.number)
            // No more than the first of them can be chosen.
            waiting += directory.children.sorted { $0.precedes($1) }.prefix(count)
            waiting = Array(waiting.sorted { $0.precedes($1) }.prefix(count))
        }
        var result: [UsageDirectory] = []
        forEachDirectory { directory in
            let isChosen = chosen.contains(directory.number)
            if isChosen { result.append(directory) }
            return isChosen
        }
        return result
    }

    /// Calls `body` with each directory, after the one that contains it and after all that is in a
    /// larger one of the same directory.
    ///
    /// - Parameter body: returns whether the directories in it are wanted.
    func forEachDirectory(_ body: (UsageDirectory) -> Bool) {
        var stack = Array(roots.sorted { $0.precedes($1) }.reversed())
        while let directory = stack.popLast() {
            guard body(directory) else { continue }
            stack += directory.children.sorted { $1.precedes($0) }
        }
    }
}

extension UsageDirectory {
    /// Whether it comes before another of the same directory: the larger one, or at equal sizes by
    /// name.
    func precedes(_ other: UsageDirectory) -> Bool {
        let (size, otherSize) = (allocated, other.allocated)
        return size == otherSize
            ? name.lexicographicallyPrecedes(other.name) : size > otherSize
    }
}
