import CommandSupport
import PurgePlanning
import SystemCalls

/// Prints the units of a plan, and its totals.
struct PlanPrinter: ~Copyable {
    private let form: RecordOptions.Form
    private let now: FileTime
    /// Whether ages are those of the last change, since reading is not recorded.
    var showsChanges = false
    private var buffer = OutputBuffer()
    private var hasHead = false
    private var column: [UInt8] = []

    init(_ form: RecordOptions.Form, now: FileTime) {
        self.form = form
        self.now = now
    }

    /// Prints one unit.
    ///
    /// - Parameter type: the `type` field of its JSON object.
    mutating func write(_ unit: PurgeUnit, type: String = "unit") {
        switch form {
        case .json:
            var line = JSONLine.output()
            line.add("type", type)
            line.add(path: unit.path)
            line.add("class", unit.purgeClass.name)
            line.add("isDirectory", unit.isDirectory)
            line.add("lastUse", unit.lastUse)
            line.add("bytes", unit.bytes)
            line.add("items", unit.itemCount)
            line.end(in: &buffer)
        case .nulEnded:
            buffer.append(bytes: unit.path)
            buffer.endRecord(in: form)
        case .lines:
            if !hasHead {
                buffer.append("CLASS   ")
                buffer.append(showsChanges ? "WRITTEN" : "    AGE")
                buffer.append("        SIZE  PATH\n")
            }
            hasHead = true
            let name = unit.purgeClass.name
            buffer.append(text: name)
            writeSpaces(9 - name.utf8.count)
            appendAgeText(unit.lastUse, now: now, to: &column)
            writeColumn(6)
            appendSizeText(unit.bytes, to: &column)
            writeColumn(12)
            buffer.append("  ")
            buffer.append(name: unit.path)
            if unit.isDirectory { buffer.append("/") }
            buffer.endRecord(in: form)
        }
    }

    /// Writes the text of a column, with leading spaces up to a width.
    private mutating func writeColumn(_ width: Int) {
        writeSpaces(width - column.count)
        buffer.append(bytes: column)
        column.removeAll(keepingCapacity: true)
    }

    private mutating func writeSpaces(_ count: Int) {
        for _ in 0..<max(0, count) { buffer.append(byte: UInt8(ascii: " ")) }
    }

    mutating func write(_ result: MadePlan) {
        let plan = result.plan
        switch form {
        case .nulEnded: break
        case .json:
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("wantedBytes", plan.wantedBytes)
            line.add("plannedUnits", plan.units.count)
            line.add("plannedBytes", plan.bytes)
            line.add("missingBytes", plan.missing.bytes)
            line.add("wantedInodes", plan.wantedInodes)
            line.add("plannedInodes", plan.amount.inodes)
            line.add("missingInodes", plan.missing.inodes)
            line.add("classes", objects: PurgeClass.allCases) { purgeClass, line in
                line.add("class", purgeClass.name)
                line.add("units", result.found.totals.count(of: purgeClass))
                line.add("bytes", result.found.totals.bytes(of: purgeClass))
            }
            line.add("kept", objects: result.kept.counts.byReason) { kept, line in
                line.add("reason", kept.name)
                line.add("count", kept.count)
            }
            line.end(in: &buffer)
        case .lines: writeTotals(result)
        }
        buffer.flush()
    }

    private mutating func writeTotals(_ result: MadePlan) {
        let planned = PurgeTotals(result.plan.units)
        for purgeClass in PurgeClass.allCases {
            let all = result.found.totals.count(of: purgeClass)
            guard all > 0 else { continue }
            buffer.append(
                line:
                    "\(purgeClass.name): \(planned.count(of: purgeClass)) of "
                    + "\(counted(all, "path")), \(sizeText(planned.bytes(of: purgeClass))) of "
                    + "\(sizeText(result.found.totals.bytes(of: purgeClass)))")
        }
        let paths = counted(result.plan.units.count, "path")
        buffer.append(
            line: "total: \(result.plan.amount.text(for: result.plan.wanted)) in \(paths); "
                + "wanted \(result.plan.wanted.text())")
        let kept = result.kept.counts.text
        if !kept.isEmpty { buffer.append(line: "kept: \(kept)") }
    }

    mutating func flush() { buffer.flush() }
}

/// Appends how long ago a time was, for people: `45s`, `10m`, `23h`, `12d`.
private func appendAgeText(_ time: FileTime, now: FileTime, to text: inout [UInt8]) {
    let seconds = Int(max(0, now.seconds.subtractingSaturating(time.seconds)))
    let (amount, unit): (Int, Unicode.Scalar) =
        switch seconds {
        case ..<60: (seconds, "s")
        case ..<3600: (seconds / 60, "m")
        case ..<86400: (seconds / 3600, "h")
        default: (seconds / 86400, "d")
        }
    appendDecimal(amount, to: &text)
    text.append(UInt8(ascii: unit))
}
