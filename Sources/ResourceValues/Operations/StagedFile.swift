import SystemCalls
import SystemPackage

/// A new regular file that nobody meets under its name before it is complete.
///
/// It has no name at all where the filesystem allows that, so nothing is left of it when the process
/// dies. Elsewhere it has a temporary one.
package struct StagedFile: ~Copyable {
    private let owned: OwnedDescriptor
    private let directory: FileDescriptor
    private var temporaryName: FilePath?

    package var descriptor: FileDescriptor { owned.descriptor }

    /// Makes an empty file.
    ///
    /// - Parameters:
    ///   - directory: where the file will be; it stays open while this value lives.
    ///   - permissions: taken as `open(2)` takes them, less the process's umask.
    package init(in directory: FileDescriptor, permissions: UInt16) throws(Errno) {
        self.directory = directory
        if let unnamed = try makeUnnamedFile(in: directory, permissions: permissions) {
            owned = OwnedDescriptor(unnamed)
            temporaryName = nil
        } else {
            let name = makeTemporaryName()
            owned = OwnedDescriptor(
                try makeFile(name, in: directory, permissions: permissions))
            temporaryName = name
        }
    }

    deinit {
        // What is not complete is of no use to anybody, and a leftover harms nobody.
        if let temporaryName {
            try? removeItem(temporaryName, in: directory, isDirectory: false)
        }
    }

    /// Gives the file its name, which nothing has: otherwise `EEXIST`.
    package mutating func publish(as name: FilePath) throws(Errno) {
        guard let temporaryName else { return try nameFile(descriptor, name, in: directory) }
        do throws(Errno) {
            try renameItem(temporaryName, in: directory, to: name, in: directory, .absent)
            self.temporaryName = nil
        } catch .invalidArgument {
            // The filesystem cannot rename on that condition; the temporary name goes at the end.
            try linkItem(temporaryName, in: directory, to: name, in: directory)
        }
    }

    /// Gives the file its name in place of what has it.
    package mutating func replace(_ name: FilePath) throws(Errno) {
        let temporary = temporaryName ?? makeTemporaryName()
        if temporaryName == nil {
            try nameFile(descriptor, temporary, in: directory)
            temporaryName = temporary
        }
        try renameItem(temporary, in: directory, to: name, in: directory, .replacing)
        temporaryName = nil
    }
}
