import SystemCalls
import SystemPackage

/// The text of a configuration file, and the file's status.
///
/// - Throws: `FileError` when it cannot be read, ``SettingsError`` when it is no text.
package func settingsText(of path: FilePath) throws -> (text: String, status: FileStatus) {
    let (bytes, status) = try contents(of: path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SettingsError("is not UTF-8")
    }
    return (text, status)
}

/// Content and status of one and the same file.
private func contents(
    of path: FilePath
) throws(FileError) -> (bytes: [UInt8], status: FileStatus) {
    do throws(Errno) {
        let file = OwnedDescriptor(try openForReading(path))
        let status = try file.descriptor.status()
        guard status.kind == .regularFile else { throw .invalidArgument }
        var bytes: [UInt8] = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try readFile(file.descriptor, into: chunk)
            if count == 0 { return (bytes, status) }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > 1 << 20 { throw .fileTooLarge }
        }
    } catch {
        throw .opening(error, path)
    }
}
