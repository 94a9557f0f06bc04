import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import UsageReporting

struct UsageJSON {
    let report: UsageReport
    let options: UsageOutputOptions

    func write() {
        var buffer = OutputBuffer()
        if let count = options.top {
            for directory in report.largestDirectories(count) { write(directory, to: &buffer) }
        } else {
            report.forEachDirectory { directory in
                write(directory, to: &buffer)
                return !directory.isForeignMount
            }
        }
        let classes = report.amounts(by: \.self).sorted {
            ($0.value.allocated, $0.key.sortKey) > ($1.value.allocated, $1.key.sortKey)
        }
        for (value, amount) in classes { write(value, amount, to: &buffer) }
        writeTotals(to: &buffer)
        buffer.flush()
    }

    private func write(_ directory: UsageDirectory, to buffer: inout OutputBuffer) {
        // Only what was measured is listed.
        guard !directory.isForeignMount else { return }
        var line = JSONLine.output()
        line.add("type", "directory")
        // Long paths would make the output grow with the square of the depth.
        if let path = directory.pathBytes(upTo: longestListedPath) {
            line.add(path: path)
            line.add("depth", directory.depth)
        } else {
            line.add("depth", directory.depth)
            line.add("name", "nameBase64", directory.name)
        }
        line.add("wasRead", directory.wasRead)
        line.add("sharedBelowBytes", directory.sharedBelow)
        line.add(sumsOf: directory)
        line.end(in: &buffer)
    }

    private func write(
        _ value: UsageClass, _ amount: UsageAmount, to buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add("type", "class")
        line.add("exclusion", value.exclusion?.name)
        line.add("exclusionDetail", value.exclusion?.detail)
        line.add("purging", value.purging.name)
        line.add("protection", value.protection?.rawValue)
        line.add("verdict", value.verdict?.rawValue)
        line.add("location", value.location?.rawValue)
        line.add("apparentBytes", amount.apparent)
        line.add("allocatedBytes", amount.allocated)
        line.end(in: &buffer)
    }

    private func writeTotals(to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("type", "totals")
        line.add(sumsOf: report.total)
        line.add("directoryCount", report.directoryCount)
        line.add("problemCount", report.problems.count)
        line.add("isPartial", report.isPartial)
        line.add("listsAll", options.top == nil)
        line.add("countsClonesInFull", report.countsClonesInFull)
        line.add("freedIsAtMost", report.freedIsAtMost)
        line.end(in: &buffer)
    }
}

/// The longest path that a system call takes.
let longestListedPath = 4095

extension JSONLine {
    fileprivate mutating func add(sumsOf directory: UsageDirectory) {
        for column in UsageColumn.all { add(column.field, column.sum(directory)) }
        add("fileCount", directory.fileCount)
    }
}

extension UsageClass {
    fileprivate var sortKey: String {
        [
            exclusion?.name, exclusion?.detail, purging.name, protection?.rawValue,
            verdict?.rawValue, location?.rawValue,
        ].map { $0 ?? "" }.joined(separator: " ")
    }
}
