import ResourceValues
import SystemCalls
import TextFormats

extension PurgePlan {
    /// The version of the format of ``json``.
    static let formVersion: Int64 = 1

    /// The plan as a JSON object on one line, as read by ``init(json:)``.
    public var json: [UInt8] {
        var line = JSONLine()
        line.add("type", "purge-plan")
        line.add("version", Self.formVersion)
        line.add("created", created)
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
        line.add("lastUse", lastUse)
        line.add("bytes", bytes)
        line.add("itemCount", itemCount)
        line.add("size", pin.size)
        line.add("contentModificationTime", pin.contentModificationTime)
        line.add("attributeModificationTime", pin.attributeModificationTime)
        line.add("newestChange", pin.newestChange)
    }
}
