import CLinux
import SystemPackage

/// Copies a regular file's content into an empty file; holes stay holes.
///
/// Shares the blocks where the filesystem can (`FICLONE`), else copies in the kernel
/// (`copy_file_range(2)`), else through a buffer.
package func copyContent(
    from source: FileDescriptor, size: Int64, to target: FileDescriptor
) throws(Errno) {
    if size == 0 { return try copyThroughMemory(source, target, 0..<Int64.max) }
    // A failed clone leaves the target empty, and a serious error recurs in the copy below.
    if (try? shareContent(of: source, with: target)) != nil { return }
    var end: Int64 = 0
    while let start = try seekFile(source, toNext: .data, from: end) {
        end = try seekFile(source, toNext: .hole, from: start) ?? start
        if end <= start { break }
        try copyRange(start..<end, from: source, to: target)
    }
    try setSize(max(size, end), of: target)
}

private func shareContent(
    of source: FileDescriptor, with target: FileDescriptor
) throws(Errno) {
    _ = try perform(.ioctl) { linux_clone_file(target.rawValue, source.rawValue) }
}

private func copyRange(
    _ range: Range<Int64>, from source: FileDescriptor, to target: FileDescriptor
) throws(Errno) {
    var offset = range.lowerBound
    while offset < range.upperBound {
        let rest = Int(min(range.upperBound - offset, largestStep))
        let count: Int
        do throws(Errno) {
            count = try perform(.copy_file_range) {
                linux_copy_file_range(source.rawValue, target.rawValue, Int(offset), rest)
            }
        } catch {
            if seriousErrors.contains(error) { throw error }
            return try copyThroughMemory(source, target, offset..<range.upperBound)
        }
        // The source was truncated during the copy.
        if count == 0 { return }
        offset += Int64(count)
    }
}

/// The errors that another way of copying would meet, too.
private let seriousErrors: Set<Errno> = [.noSpace, .diskQuotaExceeded, .ioError]

/// The most bytes per call, so that signals are handled in between.
private let largestStep: Int64 = 1 << 30

private func copyThroughMemory(
    _ source: FileDescriptor, _ target: FileDescriptor, _ range: Range<Int64>
) throws(Errno) {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    defer { chunk.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
        let wanted = Int(min(Int64(chunk.count), range.upperBound - offset))
        let count = try readFile(
            source, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: chunk[..<wanted]))
        if count == 0 { return }
        try writeFile(target, UnsafeRawBufferPointer(rebasing: chunk[..<count]), at: offset)
        offset += Int64(count)
    }
}

/// Copies all extended attributes that xattr.conf(5) does not skip: `attr_copy_fd(3)`.
///
/// - Parameters:
///   - sourcePath: the source's path, used only in libattr's messages.
///   - targetPath: the target's path, likewise.
/// - Throws: the errno of the first attribute that could not be copied; the others are copied.
package func copyAttributes(
    from source: FileDescriptor, _ sourcePath: FilePath,
    to target: FileDescriptor, _ targetPath: FilePath
) throws(Errno) {
    try sourcePath.withPointer { sourceName throws(Errno) in
        try targetPath.withPointer { targetName throws(Errno) in
            _ = try perform(.copyAttributes) {
                linux_copy_attributes(sourceName, source.rawValue, targetName, target.rawValue)
            }
        }
    }
}
