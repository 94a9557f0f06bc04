import ResourceValues
import SystemPackage

/// Output of a command to a file that the user named. The path refers to the old file until the new
/// one is complete; the new file takes nothing over from the old one.
package struct OutputFile: ~Copyable {
    package let path: FilePath
    private let directory: OpenDirectory
    private var staged: StagedFile

    /// Begins a file that belongs to this process's user, and that no other user can read.
    ///
    /// - Throws: `FileError` when the name belongs to anything but a regular file of this user,
    ///   such as a symbolic link, or when no file can be created in the directory.
    package init(at path: FilePath) throws(FileError) {
        let opened = try calls(on: path) { () throws(Errno) in
            let parent = path.removingLastComponent()
            return OpenDirectory(try openDirectoryReference(parent.isEmpty ? "." : parent))
        }
        try Self.requireReplaceable(
            DirectoryEntryLocation(
                directory: opened.descriptor, name: path.lastName, pathForMessages: path))
        staged = try calls(on: path) { () throws(Errno) in
            try StagedFile(in: opened, permissions: 0o600)
        }
        self.path = path
        directory = opened
    }

    package func write(_ bytes: [UInt8]) throws(FileError) {
        try calls(on: path) { () throws(Errno) in try writeFile(staged.descriptor, bytes) }
    }

    /// Synchronizes the complete file to disk and gives it its name.
    package mutating func finish() throws(FileError) {
        try calls(on: path) { () throws(Errno) in
            try synchronize(staged.descriptor)
            try staged.replace(path.lastName)
            try synchronizeDirectory(directory.descriptor)
        }
    }

    private static func requireReplaceable(
        _ location: DirectoryEntryLocation
    ) throws(FileError) {
        guard let status = try location.statusIfPresent() else { return }
        let advice = "name another file, or - for standard output"
        guard status.kind == .regularFile else {
            throw FileError(
                code: .fileExists, message: "is not a regular file, which this could replace",
                advice: advice, path: location.pathForMessages)
        }
        guard status.owner == effectiveUser() else {
            throw FileError(
                code: .permissionDenied, message: "belongs to another user", advice: advice,
                path: location.pathForMessages)
        }
    }
}
