import SystemCalls

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
