import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A list on its way to its file: the file at the path is the old one or the whole new one.
struct ListFile: ~Copyable {
    /// Where the list will be; not a symbolic link.
    let path: FilePath
    private let directory: OwnedDescriptor
    private var staged: StagedFile

    /// Begins a file that nobody else can read.
    ///
    /// - Throws: `FileError` when something other than a regular file has the name, or a file cannot
    ///   be made in the directory.
    init(at path: FilePath) throws(FileError) {
        let target = try Self.target(of: path)
        let opened: OwnedDescriptor
        do throws(Errno) {
            let parent = target.removingLastComponent()
            opened = OwnedDescriptor(try openDirectoryReference(parent.isEmpty ? "." : parent))
        } catch {
            throw .changingItem(error, path)
        }
        let file: StagedFile
        do throws(Errno) {
            file = try StagedFile(in: opened.descriptor, permissions: 0o600)
        } catch {
            throw .changingItem(error, path)
        }
        self.path = target
        directory = opened
        staged = file
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(FileError) {
        do throws(Errno) {
            try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
                try writeFile(staged.descriptor, UnsafeRawBufferPointer(bytes))
            }
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Gives the whole file its name.
    mutating func finish() throws(FileError) {
        do throws(Errno) {
            try synchronize(staged.descriptor)
            try staged.replace(FilePath(root: nil, path.components.suffix(1)))
            try synchronizeDirectory(directory.descriptor)
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// The path itself, or what a symbolic link there leads to.
    private static func target(of path: FilePath) throws(FileError) -> FilePath {
        var status: FileStatus
        do throws(Errno) {
            status = try path.withoutFollowing.status()
        } catch .noSuchFileOrDirectory {
            return path
        } catch {
            throw .changingItem(error, path)
        }
        var target = path
        if status.kind == .symbolicLink {
            target = try realPath(of: path)
            do throws(Errno) {
                status = try target.withoutFollowing.status()
            } catch {
                throw .changingItem(error, path)
            }
        }
        guard status.kind == .regularFile else {
            throw FileError(
                code: .fileExists, message: "is no regular file, which a list could replace",
                advice: "name another file, or - for standard output", path: path)
        }
        return target
    }
}
