import CLinux
import SystemCalls
import SystemPackage

/// Calls `body` with the name of each entry of a directory, without `.` and `..`, until it returns
/// false.
///
/// - Throws: the errno of opening or reading the directory.
func forEachName(
    in directory: FilePath, _ body: ([UInt8]) -> Bool
) throws(Errno) {
    let handle = OpenFile(try openFile(directory, flags: O_RDONLY | O_DIRECTORY))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    defer { buffer.deallocate() }
    while true {
        let count = try readDirectory(handle.descriptor, into: buffer)
        if count == 0 { return }
        var offset = 0
        while offset < count {
            // d_reclen and d_name of linux_dirent64.
            let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 16, as: UInt16.self))
            let name = Array(buffer[(offset + 19)..<(offset + length)].prefix { $0 != 0 })
            offset += length
            let isOwnOrParent = name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
            if !isOwnOrParent && !body(name) { return }
        }
    }
}

/// Whether a path leads to an empty directory, or to nothing.
///
/// - Throws: ``BackupError`` when it is something else, or cannot be read.
func isEmptyOrAbsent(_ path: FilePath) throws(BackupError) -> Bool {
    var isEmpty = true
    do throws(Errno) {
        try forEachName(in: path) { _ in
            isEmpty = false
            return false
        }
    } catch .noSuchFileOrDirectory {
        return true
    } catch {
        throw BackupError(.other, "cannot be read as a directory: \(error)", path: path)
    }
    return isEmpty
}
