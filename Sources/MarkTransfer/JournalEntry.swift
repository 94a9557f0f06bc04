import CommandSupport
import JSONReading
import ResourceValues
import StoragePolicy
import SystemPackage

/// One change, as a journal keeps it: a mark that was not there and was written.
package struct JournalEntry: Sendable, Hashable {
    /// The item's absolute path when it was changed.
    package let path: FilePath
    /// The item's device and inode.
    package let identity: FileIdentity
    /// The mark that was written.
    package let mark: WrittenMark

    /// Creates an entry.
    package init(path: FilePath, identity: FileIdentity, mark: WrittenMark) {
        self.path = path
        self.identity = identity
        self.mark = mark
    }

    /// The entry as a line of JSON, with a newline.
    package var line: [UInt8] {
        var line = JSONLine()
        line.add(path: path.bytes)
        line.add("device", identity.device)
        line.add("inode", identity.inode)
        line.add("mark", mark.marker.rawValue)
        line.add("old", String?.none)
        line.add("new", "newBase64", mark.value)
        return line.ended()
    }

    /// Reads a line.
    ///
    /// - Throws: `JSONError` for anything ``line`` does not write.
    package init(line: ArraySlice<UInt8>) throws(JSONError) {
        var fields = ByteFields()
        var newValue = ByteFields(name: "new", base64Name: "newBase64")
        var (device, inode): (UInt64?, UInt64?)
        var marker: Marker?
        var scanner = JSONScanner(line, hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            if try fields.read(name, &scanner) { return }
            if try newValue.read(name, &scanner) { return }
            switch name {
            case "device": device = UInt64(exactly: try scanner.integer())
            case "inode": inode = UInt64(exactly: try scanner.integer())
            case "mark": marker = Marker(rawValue: try scanner.text())
            case "old": guard scanner.takesNull() else { throw JSONError(offset: 0) }
            default: throw JSONError(offset: 0)
            }
        }
        guard scanner.isAtEnd(), let path = fields.bytes, path.first == UInt8(ascii: "/"),
            !path.contains(0), let device, let inode, let marker, let value = newValue.bytes,
            let mark = WrittenMark(marker, value: value)
        else { throw JSONError(offset: 0) }
        self.init(
            path: FilePath(bytes: path), identity: FileIdentity(device: device, inode: inode),
            mark: mark)
    }
}
