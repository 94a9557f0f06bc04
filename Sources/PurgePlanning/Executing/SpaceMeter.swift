import SystemCalls
import SystemPackage

/// Measures how much the free space of a filesystem grows.
struct SpaceMeter {
    private let path: FilePath
    private let directory: SharedDescriptor
    private let first: Int64
    private let repeats: Int

    /// Takes the first measurement.
    ///
    /// - Parameters:
    ///   - directory: a directory on the filesystem.
    ///   - repeats: how many times at most a measurement below the expectation is repeated.
    init(_ directory: FilePath, repeats: Int) throws(FileError) {
        path = directory
        self.repeats = repeats
        do throws(Errno) {
            self.directory = SharedDescriptor(
                try openFile(directory.withoutFollowing, flags: [.readOnly, .directory]))
            first = try Self.freeBytes(of: self.directory.descriptor)
        } catch {
            throw FileError.opening(error, directory)
        }
    }

    /// Returns how many bytes the free space grew by; negative when it shrank.
    ///
    /// Filesystems free blocks in the background, so a measurement below the expectation is
    /// repeated a tenth of a second later, until two repetitions showed no growth: then something
    /// else uses the space or keeps the blocks.
    func grownBytes(expecting expected: Int64) throws(FileError) -> Int64 {
        try calls(on: path) { () throws(Errno) in
            var grown = try Self.freeBytes(of: directory.descriptor) - first
            var standstills = 0
            for _ in 0..<repeats where grown < expected && standstills < 2 {
                sleep(for: .milliseconds(100), unless: { false })
                let next = try Self.freeBytes(of: directory.descriptor) - first
                if next <= grown { standstills += 1 }
                grown = next
            }
            return grown
        }
    }

    /// Whether the free space does not shrink for a moment in which nothing is deleted.
    func isAlone() throws(FileError) -> Bool {
        try calls(on: path) { () throws(Errno) in
            let before = try Self.freeBytes(of: directory.descriptor)
            sleep(for: .milliseconds(300), unless: { false })
            return try Self.freeBytes(of: directory.descriptor) >= before
        }
    }

    private static func freeBytes(of descriptor: FileDescriptor) throws(Errno) -> Int64 {
        try synchronizeFilesystem(of: descriptor)
        let status = try filesystemStatus(ofOpen: descriptor)
        return Int64(
            clamping: status.freeBlocks.multipliedSaturating(by: status.fragmentSize))
    }
}

/// Decides when enough was deleted, when a run measures free space, and what the result means.
struct PurgeProgress {
    enum Verdict: Hashable {
        case goOn
        /// As much was freed as was wanted.
        case reached
        /// Something else, such as a snapshot, keeps the blocks of what is deleted.
        case futile
    }

    private let wanted: PurgeAmount
    /// How many predicted bytes must be deleted before the effect is judged; the greatest number
    /// where nothing can share blocks.
    let futileBytes: Int64
    /// How much the removed units were expected to free.
    private(set) var predicted = PurgeAmount()
    /// Whether a unit was removed since the last judgement that may have freed more.
    private var mayHaveFreedMore = false
    private var lastMeasured: Int64 = 0
    private var nextMeasure: Int64

    init(_ wanted: PurgeAmount, futileBytes: Int64) {
        self.wanted = wanted
        self.futileBytes = futileBytes
        nextMeasure = min(wanted.bytes, futileBytes)
    }

    /// Whether to judge the run before anything else is deleted.
    var isDue: Bool { isDue(after: PurgeAmount()) }

    /// Whether that is so when so much more is deleted, as predicted. Inodes are freed, whatever the
    /// free space shows.
    func isDue(after amount: PurgeAmount) -> Bool {
        var sum = predicted
        sum.add(amount)
        return sum.inodes >= wanted.inodes
            && (mayHaveFreedMore || sum.bytes >= nextMeasure || sum.certainBytes >= wanted.bytes)
    }

    /// Whether the inodes and the blocks of what was deleted are as many as are wanted. Other processes
    /// may have used them since, and snapshots may keep blocks where ``mayBeFutile``.
    var isReached: Bool { isReached(by: predicted.certainBytes) }

    /// Whether as much as is wanted was freed if so many bytes were.
    func isReached(by bytes: Int64) -> Bool {
        bytes >= wanted.bytes && predicted.inodes >= wanted.inodes
    }

    /// Whether snapshots or other files may keep blocks of what is deleted.
    var mayBeFutile: Bool { futileBytes < .max }

    /// How many bytes a measurement may show.
    var expected: Int64 {
        max(predicted.certainBytes, mayHaveFreedMore ? wanted.bytes : .min)
    }

    mutating func removed(_ unit: PurgeUnit) {
        predicted.add(unit.amount)
        mayHaveFreedMore = mayHaveFreedMore || unit.mayFreeMore
    }

    /// Returns what a measured growth means, and schedules the next measurement.
    ///
    /// - Parameter isAlone: whether no other process is writing. Otherwise the measurement does not
    ///   show what was freed.
    mutating func judge<Failure>(
        _ measured: Int64, isAlone: () throws(Failure) -> Bool
    ) throws(Failure) -> Verdict {
        let certain = predicted.certainBytes
        let isInVain =
            mayHaveFreedMore && measured.subtractingSaturating(lastMeasured) < SmallUnits.limit
        (mayHaveFreedMore, lastMeasured) = (false, measured)
        if measured >= wanted.bytes { return .reached }
        // Others that may free nothing would be deleted for the same reason.
        if isInVain { return .futile }
        if certain >= futileBytes, measured < certain / 2, try isAlone() { return .futile }
        if isReached { return .reached }
        // Small steps near the end would spend more time in `syncfs(2)` than in deleting.
        let step = max(wanted.bytes.subtractingSaturating(measured), wanted.bytes / 8, 1 << 20)
        nextMeasure = predicted.bytes.addingSaturating(min(step, max(futileBytes, 1)))
        return .goOn
    }
}
