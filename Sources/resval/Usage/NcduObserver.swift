import FileTree
import ResourceValues
import SystemCalls
import SystemPackage
import UsageReporting

/// Writes what one thread of a walk meets as objects of ncdu's format.
struct NcduObserver: UsageObserver {
    /// The number of bytes after which a run of entries is written.
    private static let limit = 1 << 18

    private let export: NcduExport
    private var directory: UInt32 = 0
    private var run: [UInt8] = []

    init(_ export: NcduExport) { self.export = export }

    mutating func note(directory: borrowing TreeEntry, _ status: FileStatus, number: UInt32) {
        var head: [UInt8] = []
        NcduEntry.begin(directory, status, to: &head)
        head += ",\"dev\":\(status.identity.device)".utf8
        export.add(head, of: number, isHead: true)
    }

    mutating func note(
        file: borrowing TreeEntry, _ status: FileStatus, in directory: UInt32
    ) {
        if directory != self.directory || run.count > Self.limit {
            finish()
            self.directory = directory
        }
        run += ",\n".utf8
        NcduEntry.begin(file, status, to: &run)
        if status.linkCount > 1 {
            // Readers count the file once by its inode number.
            run += ",\"ino\":\(status.identity.inode),\"hlnkc\":true".utf8
            run += ",\"nlink\":\(status.linkCount)".utf8
        }
        if status.kind != .regularFile { run += ",\"notreg\":true".utf8 }
        run.append(UInt8(ascii: "}"))
    }

    mutating func finish() {
        export.add(run, of: directory, isHead: false)
        run.removeAll(keepingCapacity: true)
    }
}

/// An object of ncdu's format.
enum NcduEntry {
    /// Begins an object with its name.
    ///
    /// Bytes that are not UTF-8 are written as they are, which is how ncdu writes and reads them;
    /// gdu reads each as U+FFFD.
    static func begin(named name: [UInt8], to output: inout [UInt8]) {
        output += #"{"name":""#.utf8
        for byte in name {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output += [UInt8(ascii: "\\"), byte]
            case ..<0x20, 0x7F:
                output += (byte < 16 ? "\\u000" : "\\u00").utf8
                output += String(byte, radix: 16).utf8
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    fileprivate static func begin(
        _ entry: borrowing TreeEntry, _ status: FileStatus, to output: inout [UInt8]
    ) {
        begin(named: entry.nameBytes, to: &output)
        output += ",\"asize\":\(max(status.size, 0)),\"dsize\":\(status.allocatedSize)".utf8
    }
}
