import SystemCalls
import SystemPackage

/// A symbolic link of a declared tree.
package struct SymbolicLink: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let target: [UInt8]

    /// Creates a link that holds `target`, which need not exist.
    package init(_ name: FileName, to target: FilePath) {
        self.name = name
        self.target = target.bytes
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeSymbolicLink(name, to: target)
    }
}

/// One more name for a file of a declared tree.
package struct HardLink: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let target: FilePath

    /// Creates a link to a file declared earlier, by its path from the top of the tree.
    package init(_ name: FileName, to target: FilePath) {
        self.name = name
        self.target = target
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeHardLink(name, to: target, from: root)
    }
}
