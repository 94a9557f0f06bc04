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
            var amount = file.amount
            amount.allocated -= min(file.sharedBytes, amount.allocated)
            assign(amount, to: file.common, isFreed: file.isFreed)
            if file.isRegular { tree[file.common.directory].tally.fileCount.addSaturating(1) }
        }
        forEachSharedPiece(of: extents, files: links.files, in: tree) { piece in
            if piece.isFreed { mayShareOutside = true }
            assign(
                UsageAmount(allocated: piece.length), to: piece.common, isFreed: piece.isFreed)
        }
        tree.addUp()
    }

    private mutating func assign(
        _ amount: UsageAmount, to common: CommonDirectory, isFreed: Bool
    ) {
        let entry = classes.entry(for: common.value)
        tree[common.directory].tally.add(amount, entry)
        amounts.add(amount, entry)
        if !isFreed { tree[common.directory].tally.notFreed.addSaturating(amount.allocated) }
        if common.isSpread {
            sharedBelow[common.directory, default: 0].addSaturating(amount.allocated)
        }
    }
}

/// The directory to which bytes belong that are reached by several names.
struct CommonDirectory: Sendable {
    /// The deepest directory that contains all names that were met.
    var directory: UInt32
    var value: UsageClass
    /// Whether the names are in different directories.
    var isSpread = false

    mutating func add(_ other: CommonDirectory, in tree: UsageTree) {
        isSpread = isSpread || other.isSpread || directory != other.directory
        directory = tree.common(directory, other.directory)
        if value != other.value { value = value.merging(other.value) }
    }
}

/// The files with several hard links.
struct LinkedFiles: Sendable {
    /// A file with several hard links, by what its names have in common.
    struct File: Sendable {
        var common: CommonDirectory
        var amount: UsageAmount
        let isRegular: Bool
        var linkCount: Int
        var nameCount = 1
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
        let common = CommonDirectory(directory: directory, value: entry.value)
        guard let number = numbers[status.identity] else {
            numbers[status.identity] = files.count
            files.append(
                File(
                    common: common, amount: amount, isRegular: status.kind == .regularFile,
                    linkCount: status.linkCount))
            return files.count - 1
        }
        // While the file changes, its names may show different numbers.
        files[number].amount.apparent = max(files[number].amount.apparent, amount.apparent)
        files[number].amount.allocated = max(files[number].amount.allocated, amount.allocated)
        files[number].linkCount = max(files[number].linkCount, status.linkCount)
        files[number].nameCount += 1
        files[number].common.add(common, in: tree)
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
    var common: CommonDirectory
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
                let other = SharedPiece(reference, length: 0, files)
                piece.common.add(other.common, in: tree)
                piece.isFreed = piece.isFreed && other.isFreed
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
            common = CommonDirectory(directory: number, value: entry.value)
            isFreed = true
        case .linkedFile(let number):
            common = files[number].common
            isFreed = files[number].isFreed
        }
    }
}
