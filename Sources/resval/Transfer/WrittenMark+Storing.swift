import ResourceValues
import SystemCalls
import SystemPackage

// All functions take an open file, so that they act on the very file that was inspected.

extension WrittenMark {
    /// Returns the value that an open file has for this kind of mark; nil if it has none.
    func storedValue(on file: NamedDescriptor) throws(FileError) -> [UInt8]? {
        if let attribute { return try file.extendedAttribute(named: attribute) }
        return try isNodump(file) ? value : nil
    }

    /// Stores the mark on an open file that does not have this kind of mark.
    ///
    /// - Throws: ``FileError``; `attributeExists` when another program has stored the attribute
    ///   since it was read.
    func store(on file: NamedDescriptor) throws(FileError) {
        if let attribute {
            return try file.setExtendedAttribute(named: attribute, to: value, if: .absent)
        }
        try changeNodump(to: true, file)
    }

    /// Removes the mark from an open file.
    func remove(from file: NamedDescriptor) throws(FileError) {
        if let attribute {
            try file.removeExtendedAttribute(named: attribute)
        } else {
            try changeNodump(to: false, file)
        }
    }

    private func isNodump(_ file: NamedDescriptor) throws(FileError) -> Bool {
        try file.fileStatus().isNodump
    }

    private func changeNodump(to isNodump: Bool, _ file: NamedDescriptor) throws(FileError) {
        do throws(Errno) {
            // ioctl(2) fails on descriptors opened with O_PATH.
            let opened = OwnedDescriptor(
                try reopenFile(file.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
            try setNodump(isNodump, of: opened.descriptor)
        } catch {
            throw .changingNodump(error, file.pathForMessages)
        }
        // Some filesystems accept inode flags without storing them.
        guard try self.isNodump(file) == isNodump else {
            throw .changingNodump(.notSupported, file.pathForMessages)
        }
    }
}

extension FileError {
    fileprivate static func changingNodump(_ errno: Errno, _ path: FilePath?) -> FileError {
        switch errno {
        case .inappropriateIOCTLForDevice, .notSupported:
            FileError(
                code: .unsupportedFilesystem, message: "the filesystem has no nodump flag",
                path: path, errno: errno)
        default:
            .changingItem(errno, path)
        }
    }
}
