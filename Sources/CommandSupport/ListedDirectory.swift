import SystemCalls
import SystemPackage

/// The directory that paths of a list lie in one after the other, open while they do.
///
/// From it the kernel finds a file by one name, instead of going the whole way for each. It is opened
/// for the second path in a row, since one path alone is reached faster by itself.
struct ListedDirectory: ~Copyable {
    private var prefix: [UInt8] = []
    private var opened: SharedDescriptor?
    private let isOfUse = ExtendedAttributeCalls.haveDirectoryForms

    /// Closes it: what stands for its path may be another directory by the time more paths come.
    mutating func forget() {
        opened = nil
        prefix.removeAll(keepingCapacity: true)
    }

    /// The directory of `path`, and where in `path` the name in it begins; nil when the path has to be
    /// followed itself.
    mutating func parent(
        of path: UnsafeBufferPointer<UInt8>
    ) -> (descriptor: FileDescriptor, nameOffset: Int)? {
        guard isOfUse, let slash = path.lastIndex(of: UInt8(ascii: "/")), slash < path.count - 1,
            slash < longestPath
        else { return nil }
        let directory = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(path)[...slash])
        if !isSame(directory) {
            forget()
            prefix.append(contentsOf: directory)
            return nil
        }
        if opened == nil { open() }
        return opened.map { ($0.descriptor, slash + 1) }
    }

    private func isSame(_ directory: UnsafeRawBufferPointer) -> Bool {
        prefix.withUnsafeBytes { $0.hasSameBytes(as: directory) }
    }

    /// Where it cannot be opened each path is followed, which tells why.
    private mutating func open() {
        opened = try? SharedDescriptor(
            openFile(FilePath(bytes: prefix), flags: [.reference, .directory]))
    }
}
