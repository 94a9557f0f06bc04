import JSONReading
import ResourceValues
import SystemCalls
import SystemPackage

/// The file `backup-status.json` in the state directory, which other programs may read at any time:
/// it is replaced as a whole.
package struct StatusFile: Sendable {
    /// Where the file is.
    package let path: FilePath

    /// The file in a state directory.
    package init(in directory: FilePath) {
        path = directory.appending("backup-status.json")
    }

    /// The status of the last run; nil when there was none.
    ///
    /// - Throws: ``FileError`` when the file cannot be read or understood.
    package func read() throws(FileError) -> RunStatus? {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try contentsOfFile(path)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw .opening(error, path)
        }
        do throws(JSONError) {
            return try RunStatus(bytes)
        } catch {
            throw FileError(
                code: .other, message: "is no status file", advice: "remove it", path: path)
        }
    }

    /// Replaces the status.
    package func write(_ status: RunStatus) throws(FileError) {
        try status.line.withUnsafeBufferPointer { bytes throws(FileError) in
            try writeFile(UnsafeRawBufferPointer(bytes), to: path)
        }
    }
}
