import SystemCalls

/// What the threads of a walk share.
struct UsageState: Sendable {
    var tree = UsageTree()
    var classes = UsageClassTable()
    var amounts = UsageClassAmounts()
    var links = LinkedFiles()
    var extents: [ExtentReference] = []
    var problems: [FileError] = []
    /// The sizes of files that share extents, in bytes.
    var cloneSize: Int64 = 0
    /// Whether files were met that may share extents, and were not asked.
    var countsClonesInFull = false
    /// The allocated bytes of what is reached from several directories below one, by its number.
    private(set) var sharedBelow: [UInt32: Int64] = [:]

    /// Assigns what is shared to directories, and adds everything up. To be called once, after the
    /// walk.
    mutating func finish() {
        for file in links.files {
            let entry = classes.entry(for: file.value)
            var amount = file.amount
            amount.allocated -= min(file.sharedBytes, amount.allocated)
            assign(
                amount, entry, to: file.directory, isFreed: file.isFreed, isSpread: file.isSpread)
            if file.isRegular { tree[file.directory].tally.fileCount.addSaturating(1) }
        }
        forEachSharedPiece(of: extents, files: links.files, in: tree) { piece in
            let entry = classes.entry(for: piece.value)
            assign(
                UsageAmount(allocated: piece.length), entry, to: piece.directory,
                isFreed: piece.isFreed, isSpread: piece.isSpread)
        }
        tree.addUp()
    }

    private mutating func assign(
        _ amount: UsageAmount, _ entry: UsageClassEntry, to directory: UInt32, isFreed: Bool,
        isSpread: Bool
    ) {
        tree[directory].tally.add(amount, entry)
        amounts.add(amount, entry)
        if !isFreed { tree[directory].tally.notFreed.addSaturating(amount.allocated) }
        if isSpread { sharedBelow[directory, default: 0].addSaturating(amount.allocated) }
    }
}

/// The files with several hard links.
struct LinkedFiles: Sendable {
    /// A file with several hard links, by what its names have in common.
    struct File: Sendable {
        /// The deepest directory that contains all names that were met.
        var directory: UInt32
        var value: UsageClass
        var amount: UsageAmount
        let isRegular: Bool
        var linkCount: Int
        var nameCount = 1
        /// Whether the names are in different directories.
        var isSpread = false
        /// The bytes in extents that are counted by themselves.
        var sharedBytes: Int64 = 0

        /// Whether all names were met.
        var isFreed: Bool { nameCount >= linkCount }
    }

    private(set) var files: [File] = []
    private var numbers: [FileIdentity: Int] = [:]

    /// Adds a name of a file.
    ///
    /// - Returns: the file's number if this is the first of its names; otherwise nil.
    mutating func add(
        _ status: FileStatus, _ amount: UsageAmount, _ entry: UsageClassEntry,
        in directory: UInt32, of tree: UsageTree
    ) -> Int? {
        guard let number = numbers[status.identity] else {
            numbers[status.identity] = files.count
            files.append(
                File(
                    directory: directory, value: entry.value, amount: amount,
                    isRegular: status.kind == .regularFile, linkCount: status.linkCount))
            return files.count - 1
        }
        // While the file changes, its names may show different numbers.
        files[number].amount.apparent = max(files[number].amount.apparent, amount.apparent)
        files[number].amount.allocated = max(files[number].amount.allocated, amount.allocated)
        files[number].linkCount = max(files[number].linkCount, status.linkCount)
        files[number].nameCount += 1
        if files[number].directory != directory {
            files[number].isSpread = true
            files[number].directory = tree.common(files[number].directory, directory)
        }
        if files[number].value != entry.value {
            files[number].value = files[number].value.merging(entry.value)
        }
        return nil
    }

    /// Records how many bytes of a file are in extents that are counted by themselves.
    mutating func setSharedBytes(_ bytes: Int64, ofFile number: Int) {
        files[number].sharedBytes = bytes
    }
}
