import CLinux
import SystemCalls
import SystemPackage

/// The directory that paths of a list lie in one after the other, open while they do.
///
/// From it the kernel finds a file by one name, instead of going the whole way for each. It is opened
/// for the second path in a row, since one path alone is reached faster by itself.
struct ListedDirectory: ~Copyable {
    private var prefix: [UInt8] = []
    private var descriptor: FileDescriptor?
    private let isOfUse = ExtendedAttributeCalls.haveDirectoryForms

    deinit { close() }

    /// Closes it: what stands for its path may be another directory by the time more paths come.
    mutating func forget() {
        close()
        descriptor = nil
        prefix.removeAll(keepingCapacity: true)
    }

    /// The directory of `path`, and where in `path` the name in it begins; nil when the path has to be
    /// followed itself.
    mutating func parent(
        of path: UnsafeBufferPointer<UInt8>
    ) -> (descriptor: FileDescriptor, nameOffset: Int)? {
        guard isOfUse, let slash = path.lastIndex(of: UInt8(ascii: "/")), slash < path.count - 1,
            slash < Int(PATH_MAX)
        else { return nil }
        let directory = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(path)[...slash])
        if !isSame(directory) {
            forget()
            prefix.append(contentsOf: directory)
            return nil
        }
        if descriptor == nil { open() }
        return descriptor.map { ($0, slash + 1) }
    }

    private func isSame(_ directory: UnsafeRawBufferPointer) -> Bool {
        prefix.withUnsafeBytes { prefix in
            guard prefix.count == directory.count, let mine = prefix.baseAddress,
                let other = directory.baseAddress
            else { return false }
            return memcmp(mine, other, prefix.count) == 0
        }
    }

    /// Where it cannot be opened each path is followed, which tells why.
    private mutating func open() {
        descriptor = try? openFile(FilePath(bytes: prefix), flags: O_PATH | O_DIRECTORY)
    }

    private func close() {
        // It was never written to, so nothing can be lost.
        if let descriptor { closeQuietly(descriptor) }
    }
}
