import SystemCalls
import SystemPackage

/// The directory of consecutive paths in a list, kept open between them.
///
/// The kernel then looks up one name for each file, instead of the whole path. The directory is
/// opened only for the second consecutive path, since opening it does not pay off for a single
/// path.
struct ListedDirectory: ~Copyable {
    private var prefix: [UInt8] = []
    private var opened: SharedDescriptor?
    private let isOfUse = ExtendedAttributeCalls.haveDirectoryForms

    /// Closes the directory, because its path may lead to another directory when more paths arrive.
    mutating func forget() {
        opened = nil
        prefix.removeAll(keepingCapacity: true)
    }

    /// Returns the open directory of `path`, and the offset of the name within `path`; nil when the
    /// whole path has to be looked up.
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

    /// Opens the directory. If that fails, the lookup of each path reports why.
    private mutating func open() {
        opened = try? SharedDescriptor(
            openFile(FilePath(bytes: prefix), flags: [.reference, .directory]))
    }
}
