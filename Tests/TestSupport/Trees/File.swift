import Glibc
import SystemCalls
import SystemPackage

/// A regular file of a declared tree.
package struct File: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let content: [UInt8]

    package init(_ name: FileName, _ content: String = "") {
        self.init(name, Array(content.utf8))
    }

    package init(_ name: FileName, _ content: [UInt8]) {
        self.name = name
        self.content = content
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        let file = try directory.createFile(name)
        defer { close(file.rawValue) }
        try content.withUnsafeBytes { try writeFile(file, $0) }
    }
}

/// A file with a hole, and data behind it.
package struct SparseFile: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let hole: Int
    private let data: [UInt8]

    /// Creates a file whose first `hole` bytes are never written, with `data` behind them.
    package init(_ name: FileName, hole: Int, data: String = "") {
        self.name = name
        self.hole = hole
        self.data = Array(data.utf8)
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        let file = try directory.createFile(name)
        defer { close(file.rawValue) }
        guard ftruncate(file.rawValue, hole) == 0, lseek(file.rawValue, hole, SEEK_SET) == hole
        else {
            throw FixtureError(
                call: "ftruncate", file: name.description, errno: Errno(rawValue: errno))
        }
        try data.withUnsafeBytes { try writeFile(file, $0) }
    }
}
