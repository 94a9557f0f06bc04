/// How far a backup or restore has come.
package struct BackupProgress: Sendable, Hashable {
    /// Files done.
    package var filesDone: Int64 = 0
    /// Files found so far.
    package var filesTotal: Int64 = 0
    /// Bytes read.
    package var bytesDone: Int64 = 0
    /// The sizes of the files found so far, in bytes.
    package var bytesTotal: Int64 = 0
}
