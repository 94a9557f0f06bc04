import SystemCalls

/// The directories of a walk, by number: 96 bytes and the name for each, and no object.
///
/// Number 0 stands above all roots. A directory has a higher number than the one that contains it.
struct UsageTree: Sendable {
    /// A directory, a root of any kind, or a mount point that was not entered.
    struct Record: Sendable {
        var parent: UInt32
        /// The number of directories above it.
        var depth: UInt32
        fileprivate var nameStart: Int
        fileprivate var nameLength: UInt32
        var state: State
        /// Whether the content has another path outside the roots, and so stays when a directory above
        /// is deleted.
        var isBorrowed = false
        /// The number of the class of entries that nothing is known about by themselves; the
        /// greatest for none.
        var entryClass: UInt16
        /// The sums, of everything below after ``UsageTree/addUp()``.
        var tally: UsageTally
        fileprivate(set) var firstChild: UInt32 = 0
        fileprivate(set) var nextSibling: UInt32 = 0
    }

    enum State: UInt8, Sendable {
        /// A directory that was not read, or not to its end.
        case unread
        case read
        /// The mount point of a filesystem that backups do not enter, or that shows what is counted
        /// elsewhere.
        case foreignMount
        /// A root that is not a directory.
        case file
    }

    /// The names, one after another.
    private var names: [UInt8] = []
    /// Chunks of ``chunkSize`` records, so that the tree grows without being copied.
    private var chunks: [ContiguousArray<Record>] = []
    private(set) var count = 0
    private static let chunkSize = 1024

    init() {
        _ = add([], to: 0, state: .unread)
    }

    subscript(number: UInt32) -> Record {
        get { chunks[Int(number) / Self.chunkSize][Int(number) % Self.chunkSize] }
        _modify { yield &chunks[Int(number) / Self.chunkSize][Int(number) % Self.chunkSize] }
    }

    /// Adds a directory to the one that contains it.
    ///
    /// - Returns: its number; that of the containing directory for the 2^32nd.
    mutating func add(
        _ name: some Collection<UInt8>, to parent: UInt32, state: State,
        entryClass: UInt16 = .max, _ tally: UsageTally = UsageTally()
    ) -> UInt32 {
        guard let number = UInt32(exactly: count) else {
            self[parent].tally.add(tally)
            return parent
        }
        if count % Self.chunkSize == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(Self.chunkSize)
        }
        let depth = count == 0 ? 0 : self[parent].depth + 1
        let record = Record(
            parent: parent, depth: depth, nameStart: names.count,
            nameLength: UInt32(clamping: name.count), state: state, entryClass: entryClass,
            tally: tally)
        names.append(contentsOf: name)
        chunks[chunks.count - 1].append(record)
        count += 1
        return number
    }

    func name(of number: UInt32) -> ArraySlice<UInt8> {
        let record = self[number]
        return names[record.nameStart..<record.nameStart + Int(record.nameLength)]
    }

    func nameLength(of number: UInt32) -> Int { Int(self[number].nameLength) }

    /// Returns the deepest directory that contains both, or is one of them.
    func common(_ first: UInt32, _ second: UInt32) -> UInt32 {
        var (first, second) = (first, second)
        while first != second {
            if self[first].depth >= self[second].depth {
                first = self[first].parent
            } else {
                second = self[second].parent
            }
        }
        return first
    }

    /// Adds the sums of each directory to those of the directories above, and links each with the
    /// directories in it. To be called once.
    mutating func addUp() {
        for number in (1..<UInt32(max(count, 1))).reversed() {
            let record = self[number]
            self[record.parent].tally.add(record.tally)
            if record.isBorrowed {
                self[record.parent].tally.notFreed.addSaturating(
                    record.tally.allocated - record.tally.notFreed)
            }
            self[number].nextSibling = self[record.parent].firstChild
            self[record.parent].firstChild = number
        }
    }
}
