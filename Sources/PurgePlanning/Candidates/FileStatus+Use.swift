import SystemCalls

extension FileStatus {
    /// The latest of the file's access, modification, change and birth times.
    ///
    /// A directory's change time is ignored: deleting or marking something in it changes that time.
    var lastUse: FileTime {
        var newest = max(contentModificationTime, contentAccessTime)
        if let creationTime { newest = max(newest, creationTime) }
        return kind == .directory ? newest : max(newest, attributeModificationTime)
    }
}
