import CLinux
import SystemPackage

/// Reads entries of an open directory into a buffer: `getdents64(2)`.
///
/// - Returns: the number of bytes filled with `linux_dirent64` records; 0 at the end.
package func readDirectory(
    _ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    try perform(.getdents64) {
        linux_getdents64(descriptor.rawValue, buffer.baseAddress, buffer.count)
    }
}

/// Calls `body` with the name of each entry of a directory, without `.` and `..`, until `body`
/// returns false.
///
/// - Throws: the errno of opening or reading the directory.
package func forEachName(
    in directory: borrowing some FileLocation & ~Copyable, _ body: ([UInt8]) -> Bool
) throws(Errno) {
    try forEachEntry(in: directory) { name, _ in body(name) }
}

/// Calls `body` with the name of each entry of a directory, without `.` and `..`, and whether it is
/// a directory, until `body` returns false. The second argument is nil where the filesystem does
/// not report the type.
///
/// - Throws: the errno of opening or reading the directory.
package func forEachEntry(
    in directory: borrowing some FileLocation & ~Copyable, _ body: ([UInt8], Bool?) -> Bool
) throws(Errno) {
    let descriptor = try openFile(directory, flags: [.readOnly, .directory])
    let outcome: Result<Void, Errno>
    do throws(Errno) {
        outcome = .success(try forEachEntry(inOpen: descriptor, body))
    } catch {
        outcome = .failure(error)
    }
    try closeFile(descriptor)
    try outcome.get()
}

/// As ``forEachEntry(in:_:)``, from the current position of a directory open for reading.
package func forEachEntry(
    inOpen descriptor: FileDescriptor, _ body: ([UInt8], Bool?) -> Bool
) throws(Errno) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    defer { buffer.deallocate() }
    while true {
        let count = try readDirectory(descriptor, into: buffer)
        if count == 0 { return }
        var records = DirectoryRecords(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        while let record = records.next() {
            let name = UnsafeRawBufferPointer(start: record.name, count: record.nameLength)
            guard body(Array(name), record.kind.map { $0 == .directory }) else { return }
        }
    }
}

/// Makes an open directory the calling thread's working directory: `fchdir(2)`.
///
/// Unless ``separateWorkingDirectory()`` was called before, it becomes every thread's working
/// directory.
package func changeWorkingDirectory(to descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fchdir) { linux_fchdir(descriptor.rawValue) }
}

/// Returns the working directory's absolute path, of any length: `getcwd(3)`.
///
/// - Throws: the call's errno, such as `ENOENT` if the directory was removed.
package func workingDirectory() throws(Errno) -> FilePath {
    var path: UnsafeMutablePointer<CChar>?
    _ = try perform(.getcwd) { linux_getcwd(&path) }
    guard let path else { throw .noMemory }
    defer { free(path) }
    return FilePath(platformString: path)
}

/// Gives the calling thread a working directory of its own: `unshare(2)` with `CLONE_FS`.
package func separateWorkingDirectory() throws(Errno) {
    _ = try perform(.unshare) { linux_unshare_working_directory() }
}

/// Raises the soft limit on open descriptors to the hard limit: `setrlimit(2)`.
///
/// - Returns: the limit in force afterwards.
@discardableResult
package func raiseDescriptorLimit() throws(Errno) -> Int {
    var limit = rlimit()
    _ = try perform(.getrlimit) { linux_get_descriptor_limit(&limit) }
    if limit.rlim_cur < limit.rlim_max {
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        if (try? perform(.setrlimit, { linux_set_descriptor_limit(&raised) })) != nil {
            limit = raised
        }
        // If the raise is refused, the old limit stays in force and is returned.
    }
    return Int(clamping: limit.rlim_cur)
}

/// Raises the soft limit and checks that the given number of descriptors can be opened.
///
/// - Throws: `EMFILE` if they cannot.
package func requireDescriptors(_ count: Int) throws(Errno) {
    try raiseDescriptorLimit()
    var opened: [FileDescriptor] = []
    defer { for descriptor in opened { closeIgnoringErrors(descriptor) } }
    for _ in 0..<count { opened.append(try openDirectoryReference("/")) }
}
