import SystemCalls
import SystemPackage

/// An open directory on the way down a tree, with the names in it that are still to come.
final class DirectoryFrame {
    /// The directory.
    var descriptor: FileDescriptor { owned.descriptor }
    /// Its absolute path.
    let path: [UInt8]
    private let owned: OwnedDescriptor
    private var names: [[UInt8]]

    /// - Parameters:
    ///   - descriptor: the directory, open for reading; closed with the frame.
    ///   - names: those to visit, in any order.
    init(_ descriptor: FileDescriptor, path: [UInt8], names: [[UInt8]] = []) {
        owned = OwnedDescriptor(descriptor)
        self.path = path
        self.names = names
    }

    /// Reads the names of all entries.
    func readNames() throws(Errno) {
        // The last is taken first.
        names = try BackupEngines.names(in: descriptor).sorted { $1.lexicographicallyPrecedes($0) }
    }

    /// Takes the next name off; nil when there is none left.
    func nextName() -> [UInt8]? { names.popLast() }

    /// The path of an entry.
    func path(of name: [UInt8]) -> [UInt8] {
        path + (path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name
    }
}
