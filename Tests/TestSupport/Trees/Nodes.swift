import Glibc
import SystemPackage

/// A FIFO of a declared tree.
package struct Fifo: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()

    package init(_ name: FileName) { self.name = name }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeNode(name, kind: S_IFIFO)
    }
}

/// A socket of a declared tree, to which nobody listens.
package struct Socket: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()

    package init(_ name: FileName) { self.name = name }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeNode(name, kind: S_IFSOCK)
    }
}

/// A character device of a declared tree that behaves as `/dev/null`; needs root.
package struct NullDevice: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()

    package init(_ name: FileName) { self.name = name }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeNode(name, kind: S_IFCHR, device: 1 << 8 | 3)
    }
}
