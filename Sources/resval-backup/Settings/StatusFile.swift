import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The file `backup-status.json` in the state directory. It is replaced as a whole, so that other
/// programs may read it at any time.
struct StatusFile: Sendable {
    /// The path of the file.
    let path: FilePath

    /// Creates a reference to the file in a state directory.
    init(in directory: FilePath) {
        path = directory.appending("backup-status.json")
    }

    /// Returns the status of the last run; nil when there was none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or is not valid.
    func read() throws(FileError) -> RunStatus? {
        guard let bytes = try contentsOfStateFile(path, limit: 1 << 20) else { return nil }
        do throws(JSONError) {
            return try RunStatus(bytes)
        } catch {
            throw FileError(
                code: .other, message: "is not a status file", advice: "remove it", path: path)
        }
    }

    /// Replaces the status.
    func write(_ status: RunStatus) throws(FileError) {
        try status.line.withUnsafeBufferPointer { bytes throws(FileError) in
            try path.writeFile(UnsafeRawBufferPointer(bytes), permissions: 0o600)
        }
    }
}
