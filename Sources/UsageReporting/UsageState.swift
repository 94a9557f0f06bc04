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
    /// Whether shared extents count as freed because all references that were met are.
    private(set) var mayShareOutside = false
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
            if piece.isFreed { mayShareOutside = true }
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

/// The reference of a file to an extent that it shares.
struct ExtentReference: Sendable {
    /// The file's owner: its directory, or its number among the files with several hard links.
    enum Owner: Sendable {
        case directory(UInt32, UsageClassEntry)
        case linkedFile(Int)
    }

    /// The device of the filesystem, the same for all subvolumes.
    let filesystem: UInt64
    let start: UInt64
    let end: UInt64
    let owner: Owner

    init(_ extent: SharedExtent, on filesystem: UInt64, of owner: Owner) {
        self.filesystem = filesystem
        self.owner = owner
        start = extent.start
        end = extent.start.addingSaturating(extent.length)
    }
}

/// Bytes on disk to which the same references lead.
struct SharedPiece {
    let length: Int64
    /// The deepest directory that contains all files that were met.
    var directory: UInt32
    var value: UsageClass
    /// Whether files in different directories share the bytes.
    var isSpread = false
    /// Whether deleting the directory frees the bytes: more than one reference was met, since
    /// otherwise the bytes are shared with something that was not.
    var isFreed: Bool
}

/// Calls `body` with each piece of the extents, once for all references to it.
///
/// Takes time in proportion to the references to all pieces.
func forEachSharedPiece(
    of references: [ExtentReference], files: [LinkedFiles.File], in tree: UsageTree,
    _ body: (SharedPiece) -> Void
) {
    let sorted = references.sorted { ($0.filesystem, $0.start) < ($1.filesystem, $1.start) }
    var next = 0
    // The references to what is at `position`.
    var active: [ExtentReference] = []
    var (filesystem, position): (UInt64, UInt64) = (0, 0)
    while next < sorted.count || !active.isEmpty {
        if active.isEmpty { (filesystem, position) = (sorted[next].filesystem, sorted[next].start) }
        while next < sorted.count, sorted[next].filesystem == filesystem,
            sorted[next].start <= position
        {
            active.append(sorted[next])
            next += 1
        }
        var end = active.reduce(UInt64.max) { min($0, $1.end) }
        if next < sorted.count, sorted[next].filesystem == filesystem {
            end = min(end, sorted[next].start)
        }
        if var piece = active.first.map({ SharedPiece($0, length: end - position, files) }) {
            for reference in active.dropFirst() {
                piece.add(SharedPiece(reference, length: 0, files), in: tree)
            }
            if active.count == 1 { piece.isFreed = false }
            body(piece)
        }
        position = end
        active.removeAll { $0.end <= position }
    }
}

extension SharedPiece {
    fileprivate init(_ reference: ExtentReference, length: UInt64, _ files: [LinkedFiles.File]) {
        self.length = Int64(clamping: length)
        switch reference.owner {
        case .directory(let number, let entry):
            directory = number
            value = entry.value
            isFreed = true
        case .linkedFile(let number):
            directory = files[number].directory
            value = files[number].value
            isSpread = files[number].isSpread
            isFreed = files[number].isFreed
        }
    }

    fileprivate mutating func add(_ other: SharedPiece, in tree: UsageTree) {
        if directory != other.directory {
            isSpread = true
            directory = tree.common(directory, other.directory)
        }
        isSpread = isSpread || other.isSpread
        isFreed = isFreed && other.isFreed
        if value != other.value { value = value.merging(other.value) }
    }
}
