import SystemCalls
import SystemPackage

/// The text of a configuration file, and the file's status.
///
/// - Throws: `FileError` when it cannot be read, ``SettingsError`` when it is no text.
package func settingsText(of path: FilePath) throws -> (text: String, status: FileStatus) {
    let (bytes, status) = try settings(at: path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SettingsError("is not UTF-8")
    }
    return (text, status)
}

/// Content and status of one and the same file.
private func settings(
    at path: FilePath
) throws(FileError) -> (bytes: [UInt8], status: FileStatus) {
    do throws(Errno) {
        let file = OwnedDescriptor(try openForReading(path))
        let status = try file.descriptor.status()
        return (try contents(ofOpen: file.descriptor, status, limit: settingsLimit), status)
    } catch {
        throw .opening(error, path)
    }
}
