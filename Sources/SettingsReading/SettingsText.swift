import SystemCalls
import SystemPackage

/// Returns the text of a configuration file and the file's status.
///
/// - Throws: `FileError` when the file cannot be read, or (`permissionDenied`) when a user other
///   than root and this process's user owns it or can write to it; ``SettingsError`` when it is not
///   UTF-8.
package func settingsText(of path: FilePath) throws -> (text: String, status: FileStatus) {
    let (bytes, status) = try settings(at: path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SettingsError("is not UTF-8")
    }
    return (text, status)
}

/// Reads the contents and the status of the same open file.
private func settings(
    at path: FilePath
) throws(FileError) -> (bytes: [UInt8], status: FileStatus) {
    let read: (bytes: [UInt8], status: FileStatus)
    do throws(Errno) {
        let file = OwnedDescriptor(try openForReading(path))
        let status = try file.descriptor.status()
        read = (try contents(ofOpen: file.descriptor, status, limit: settingsLimit), status)
    } catch {
        throw .opening(error, path)
    }
    guard [0, effectiveUser()].contains(read.status.owner), !read.status.isWritableByOthers else {
        throw FileError(
            code: .permissionDenied,
            message:
                "another user owns it or can write to it, and it names commands and directories",
            advice: "check its contents, then chown it to the user who runs this, and chmod go-w",
            path: path)
    }
    return read
}
