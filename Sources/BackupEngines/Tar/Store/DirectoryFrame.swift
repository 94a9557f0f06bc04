import SystemCalls
import SystemPackage

/// An open directory in a depth-first walk, with the names in it that remain to be visited.
final class DirectoryFrame {
    /// The directory.
    var descriptor: FileDescriptor { owned.descriptor }
    /// Its absolute path.
    let path: [UInt8]
    private let owned: OwnedDescriptor
    private var names: [[UInt8]]

    /// Creates a frame.
    ///
    /// - Parameters:
    ///   - descriptor: the directory, open for reading; closed with the frame.
    ///   - names: the names to visit, the last one first.
    init(_ descriptor: FileDescriptor, path: [UInt8], names: [[UInt8]] = []) {
        owned = OwnedDescriptor(descriptor)
        self.path = path
        self.names = names
    }

    /// Reads the names of all entries.
    func readNames() throws(Errno) {
        // The last name is visited first.
        names = try BackupEngines.names(in: descriptor).sorted { $1.lexicographicallyPrecedes($0) }
    }

    /// Removes and returns the next name; nil when none is left.
    func nextName() -> [UInt8]? { names.popLast() }

    /// Returns the path of an entry.
    func path(of name: [UInt8]) -> [UInt8] {
        path + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name
    }
}
