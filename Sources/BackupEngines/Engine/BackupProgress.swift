/// The progress of a backup or restore.
package struct BackupProgress: Sendable, Hashable {
    /// The number of files done.
    package var filesDone: Int64 = 0
    /// The number of files found so far.
    package var filesTotal: Int64 = 0
    /// The number of bytes read.
    package var bytesDone: Int64 = 0
    /// The sizes of the files found so far, in bytes.
    package var bytesTotal: Int64 = 0
}
