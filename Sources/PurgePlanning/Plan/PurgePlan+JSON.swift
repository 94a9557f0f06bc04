import JSONReading
import JSONWriting
import ResourceValues
import SystemCalls

extension PurgePlan {
    /// The version of the form that ``json`` has.
    static let formVersion: Int64 = 1

    /// The plan as a JSON object on one line, which ``init(json:)`` reads.
    public var json: [UInt8] {
        var line = JSONLine()
        line.add("type", "purge-plan")
        line.add("version", Self.formVersion)
        line.add("created", created.planText)
        line.add("bootID", bootID)
        line.add("device", device)
        line.add("wantedBytes", wantedBytes)
        line.add("roots", objects: roots) { root, line in line.add(path: root.bytes) }
        line.add("units", objects: units) { unit, line in unit.add(to: &line) }
        return line.ended()
    }
}

extension PurgeUnit {
    fileprivate func add(to line: inout JSONLine) {
        line.add(path: path)
        line.add("class", purgeClass.name)
        line.add("isDirectory", isDirectory)
        line.add("device", identity.device)
        line.add("inode", identity.inode)
        line.add("lastUse", lastUse.planText)
        line.add("bytes", bytes)
        line.add("itemCount", itemCount)
        line.add("size", pin.size)
        line.add("contentModificationTime", pin.contentModificationTime.planText)
        line.add("attributeModificationTime", pin.attributeModificationTime.planText)
        line.add("newestChange", pin.newestChange.planText)
    }
}

extension FileTime {
    /// The time as plans have it: in RFC 3339 form, or where that cannot write it `@` with seconds
    /// since 1970 and nanoseconds.
    var planText: String {
        let text = rfc3339
        return FileTime(rfc3339: Array(text.utf8)) == self ? text : "@\(seconds).\(nanoseconds)"
    }

    /// Reads what ``planText`` writes, and any other RFC 3339 form; nil for anything else.
    init?(planText text: [UInt8]) {
        if let time = FileTime(rfc3339: text) {
            self = time
            return
        }
        let parts = String(decoding: text.dropFirst(), as: UTF8.self).split(separator: ".")
        guard text.first == UInt8(ascii: "@"), parts.count == 2, let seconds = Int64(parts[0]),
            let nanoseconds = UInt32(parts[1]), nanoseconds < 1_000_000_000
        else { return nil }
        let time = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        guard Array(time.planText.utf8) == text else { return nil }
        self = time
    }
}
