/// The files to record of a snapshot, as they are found in it: all of them, or none when they are more
/// than the limit.
package struct StoredFileList: Sendable {
    /// The files, in the order in which they were found.
    package private(set) var files: [StoredFileState] = []
    private var isFull = false
    private let limit: Int

    /// - Parameter limit: the most files to keep.
    package init(limit: Int = StoredFileRecords.largestCount) { self.limit = limit }

    package mutating func append(_ file: StoredFileState) {
        guard !isFull else { return }
        isFull = files.count >= limit
        if isFull { files = [] } else { files.append(file) }
    }
}
