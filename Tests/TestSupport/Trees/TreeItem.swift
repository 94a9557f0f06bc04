import ResourceValues
import SystemCalls
import SystemPackage

/// One entry of a declared tree.
package protocol TreeItem: Sendable {
    /// The entry's name in its directory, or its path from there, below directories that are made where
    /// they are missing.
    var name: FileName { get set }
    /// What is set on the entry once it and all in it are made.
    var properties: TreeItemProperties { get set }
    /// Makes the entry, and what is in it, in a directory; `root` is the tree's top.
    func make(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws
}

/// What can be set on any entry of a declared tree.
package struct TreeItemProperties: Sendable {
    var attributes: [(name: ExtendedAttributeName, value: [UInt8])] = []
    var permissions: UInt16?
    var owner: UInt32?
    var modificationTime: FileTime?

    package init() {}
}

extension TreeItem {
    /// Stores an extended attribute with these bytes.
    package func attribute(_ name: ExtendedAttributeName, _ value: [UInt8]) -> Self {
        changed { $0.attributes.append((name, value)) }
    }

    /// Stores an extended attribute with this text.
    package func attribute(_ name: ExtendedAttributeName, _ value: String) -> Self {
        attribute(name, Array(value.utf8))
    }

    /// Stores `isExcludedFromBackup`.
    package func excluded(_ value: Bool = true) -> Self {
        attribute(StoredKey.isExcludedFromBackup.attribute, "\(value)")
    }

    /// Stores `isPurgeable`.
    package func purgeable(_ value: Bool = true) -> Self {
        attribute(StoredKey.isPurgeable.attribute, "\(value)")
    }

    /// Stores `fileProtection`.
    package func protection(_ value: FileProtection) -> Self {
        attribute(StoredKey.fileProtection.attribute, value.rawValue)
    }

    /// Sets the permission bits, such as `0o1777`; what is made without has those of a file or
    /// directory under the umask 022.
    package func permissions(_ permissions: UInt16) -> Self {
        changed { $0.permissions = permissions }
    }

    /// Gives the entry to a user and the group of the same number; needs root.
    package func owned(by user: UInt32) -> Self { changed { $0.owner = user } }

    /// Sets both times of the content.
    package func modified(_ time: FileTime) -> Self { changed { $0.modificationTime = time } }

    private func changed(_ change: (inout TreeItemProperties) -> Void) -> Self {
        var copy = self
        change(&copy.properties)
        return copy
    }

    func create(in directory: borrowing DirectoryHandle, root: FileDescriptor) throws {
        if let slash = name.bytes.firstIndex(of: UInt8(ascii: "/")) {
            let above = FileName(Array(name.bytes[..<slash]))
            if (try? directory.location(above).status()) == nil {
                try directory.makeDirectory(above)
            }
            var item = self
            item.name = FileName(Array(name.bytes[(slash + 1)...]))
            return try item.create(in: directory.openDirectory(above), root: root)
        }
        try make(in: directory, root: root)
        for attribute in properties.attributes {
            try directory.location(name).setExtendedAttribute(
                named: attribute.name, to: attribute.value)
        }
        if let owner = properties.owner {
            try directory.setOwner(name, user: owner, group: owner)
        }
        if let permissions = properties.permissions {
            try directory.setPermissions(name, permissions)
        }
        if let time = properties.modificationTime {
            try directory.setModificationTime(name, time)
        }
    }
}
