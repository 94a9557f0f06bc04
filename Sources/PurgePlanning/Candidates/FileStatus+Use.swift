import SystemCalls

extension FileStatus {
    /// When the file was last used, changed or made, whichever came last.
    ///
    /// A directory's own change of attributes does not count: whoever deletes something in it, or
    /// marks it, changes them.
    var lastUse: FileTime {
        var newest = max(contentModificationTime, contentAccessTime)
        if let creationTime { newest = max(newest, creationTime) }
        return kind == .directory ? newest : max(newest, attributeModificationTime)
    }
}
