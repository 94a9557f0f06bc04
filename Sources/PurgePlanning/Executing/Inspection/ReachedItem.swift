import SystemCalls
import SystemPackage

/// An item that was opened to be examined, as the rules of the search see it.
struct ReachedItem: SearchedItem {
    let file: OpenedFile
    let depth: Int
    private let bytes: [UInt8]

    /// - Parameters:
    ///   - path: its absolute path.
    ///   - depth: the number of levels below the root of the search.
    init(_ file: OpenedFile, path: [UInt8], depth: Int) {
        self.file = file
        self.depth = depth
        bytes = path
    }

    var path: FilePath { FilePath(bytes: bytes) }
    var pathForMessages: FilePath? { path }
    var nameBytes: [UInt8] { withName { Array($0) } }

    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            guard depth > 0, let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
                return body(bytes)
            }
            return body(UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...]))
        }
    }

    func appendPath(to bytes: inout [UInt8]) { bytes += self.bytes }

    /// Always true: reading them takes no more calls than finding out.
    func hasExtendedAttributes() -> Bool { true }

    /// Resolves to the open file, whatever has its name now.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        try file.descriptor.lookUp(body)
    }
}

/// A file that is open to be examined.
enum OpenedFile {
    case directory(OpenDirectory)
    /// A regular file.
    case held(LeasedFile)
    /// A reference to anything else.
    case other(SharedDescriptor)

    var descriptor: FileDescriptor {
        switch self {
        case .directory(let directory): directory.descriptor
        case .held(let file): file.descriptor
        case .other(let file): file.descriptor
        }
    }

    /// Opens an entry of a directory.
    ///
    /// - Parameters:
    ///   - status: the status of the name as just read.
    ///   - patience: how long to retry while it is in use or locked.
    /// - Throws: why it cannot be opened, or is in use; see ``LeasedFile``.
    init(
        _ name: FilePath, in directory: OpenDirectory, _ status: FileStatus, _ patience: Patience
    ) throws(KeepReason) {
        switch status.kind {
        case .regularFile:
            self = .held(try LeasedFile(name, in: directory.descriptor, status, patience))
        case .directory:
            let opened = try reaching { () throws(Errno) in try directory.openToRead(name) }
            try requireUnlocked(opened.descriptor, patience)
            self = .directory(opened)
        default:
            self = .other(
                SharedDescriptor(
                    try reaching { () throws(Errno) in
                        try openReference(name, in: directory.descriptor)
                    }))
        }
    }
}

extension OpenDirectory {
    /// Opens a directory in this one for reading, without following symbolic links or crossing
    /// mount points. Reading preserves its access time where permitted.
    func openToRead(_ name: FilePath) throws(Errno) -> OpenDirectory {
        OpenDirectory(
            try openBeneathUnnoticed(
                name, in: descriptor, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
    }
}
