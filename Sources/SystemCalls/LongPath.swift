import CLinux
import SystemPackage

/// The longest path, with its NUL, that one call accepts (`PATH_MAX` of linux/limits.h).
let longestPath = 4096

extension FilePath {
    /// Creates a path from bytes, up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        self.init(platformString: bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0])
    }

    /// Calls `body` with the path's bytes, NUL-ended; `withPlatformString` with a typed error.
    package func withPointer<Result>(
        _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var outcome: Swift.Result<Result, Errno>?
        withPlatformString { pointer in
            do throws(Errno) {
                outcome = .success(try body(pointer))
            } catch {
                outcome = .failure(error)
            }
        }
        guard let outcome else { throw .invalidArgument }
        return try outcome.get()
    }

    func withCallTarget<Result>(
        flags: CInt, _ body: (CallTarget) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard length >= longestPath else {
            return try withPointer { path throws(Errno) in
                try body(CallTarget(directory: AT_FDCWD, path: path, flags: flags))
            }
        }
        let (directory, rest) = try openLongPrefix()
        defer { closeQuietly(directory) }
        return try rest.withPointer { path throws(Errno) in
            try body(CallTarget(directory: directory.rawValue, path: path, flags: flags))
        }
    }

    /// Opens the directories in front of the path's last components, some at a time.
    ///
    /// - Returns: a descriptor (`O_PATH`) and a rest short enough for one call.
    private func openLongPrefix() throws(Errno) -> (directory: FileDescriptor, rest: FilePath) {
        var rest = self
        var directory = FileDescriptor(rawValue: AT_FDCWD)
        while rest.length >= longestPath {
            let head = rest.removePrefix(shorterThan: longestPath)
            guard !head.isEmpty else {
                closeQuietly(directory)
                throw .fileNameTooLong
            }
            let next: FileDescriptor
            do throws(Errno) {
                next = try openFile(in: directory, head, flags: O_PATH | O_DIRECTORY)
            } catch {
                closeQuietly(directory)
                throw error
            }
            closeQuietly(directory)
            directory = next
        }
        return (directory, rest)
    }

    /// Takes as many leading components as fit in `limit` bytes off this path and returns them.
    private mutating func removePrefix(shorterThan limit: Int) -> FilePath {
        var head = FilePath()
        head.root = root
        var remaining = components
        while let next = remaining.first, head.length + next.length + 1 < limit,
            remaining.count > 1
        {
            head.append(next)
            remaining.removeFirst()
        }
        self = FilePath(root: nil, remaining)
        return head
    }
}

private func closeQuietly(_ directory: FileDescriptor) {
    guard directory.rawValue != AT_FDCWD else { return }
    // A descriptor opened with O_PATH has nothing to write back: closing it cannot lose data.
    try? closeFile(directory)
}

extension FilePath.Component {
    fileprivate var length: Int { withPlatformString { strlen($0) } }
}
