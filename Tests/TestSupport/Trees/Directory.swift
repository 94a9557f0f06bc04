import SystemPackage

/// A directory of a declared tree, with what is in it.
package struct Directory: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let content: Tree

    package init(_ name: FileName, @TreeBuilder _ items: () -> [any TreeItem] = { [] }) {
        self.name = name
        content = Tree(items)
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeDirectory(name)
        let handle = try directory.openDirectory(name)
        for item in content.items {
            try item.create(in: handle, root: root)
        }
    }
}

/// Directories of one name inside each other, with what is in the innermost.
///
/// With a long name the path soon passes `PATH_MAX`; no depth needs more than two descriptors.
package struct NestedDirectories: TreeItem {
    package var name: FileName
    package var properties = TreeItemProperties()
    private let depth: Int
    private let content: Tree

    /// Creates `depth` directories, at least one, inside each other.
    package init(
        _ name: FileName, depth: Int, @TreeBuilder _ items: () -> [any TreeItem] = { [] }
    ) {
        self.name = name
        self.depth = depth
        content = Tree(items)
    }

    package func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        try directory.makeDirectory(name)
        var handle = try directory.openDirectory(name)
        for _ in 1..<max(depth, 1) {
            try handle.makeDirectory(name)
            handle = try handle.openDirectory(name)
        }
        for item in content.items {
            try item.create(in: handle, root: root)
        }
    }
}
