import ResourceValues
import SystemCalls
import SystemPackage

/// The way from `/` to the directory of a unit, open, and what the rules decided on it.
///
/// Units of one directory share it, since thousands of them may be examined in a row: for 50 ms at
/// most, as ``RunningProcesses/recentMounts()``, and only while each name on it still leads to the
/// same directory with the same owner, permissions and marks. A directory that changed is reached anew, but
/// for entries that came into the last one while this process removed others: these are seen when the
/// 50 ms are over.
struct UnitWay {
    /// A directory on the way, as it was before the rules looked at it.
    struct Step {
        /// Its name in the directory of the step before; empty for `/`.
        let name: FilePath
        let directory: OpenDirectory
        fileprivate(set) var status: FileStatus
        /// How later marks are found out.
        fileprivate let sight: Sight

        fileprivate enum Sight: Equatable {
            /// By the change time.
            case time
            /// By the marks themselves.
            case marks(Marks)
            /// Not at all.
            case none
        }

        /// Whether the change time does not show later marks.
        var isRecent: Bool { sight != .time }

        /// - Parameters:
        ///   - losesEntries: whether this process gives it other times, by removing entries.
        ///   - begin: when the first look at the way was.
        init(
            _ name: FilePath, _ directory: OpenDirectory, _ status: FileStatus, losesEntries: Bool,
            since begin: Begin
        ) {
            self.name = name
            self.directory = directory
            self.status = status
            if losesEntries || !begin.isLongAfter(status.attributeModificationTime) {
                sight = directory.marks.map { .marks($0) } ?? .none
            } else {
                sight = .time
            }
        }

        fileprivate var hasSameMarks: Bool {
            guard case .marks(let marks) = sight else { return true }
            return directory.marks == marks
        }
    }

    /// When the first look at a way was.
    struct Begin {
        fileprivate let sinceBoot = timeSinceBoot()
        private let time = FileTime.now

        /// Whether no change from now on can have the same time as one at a given time: the clocks of
        /// filesystems have steps of up to two seconds.
        fileprivate func isLongAfter(_ other: FileTime) -> Bool {
            other.seconds < time.seconds - 2
        }
    }

    /// The search root, in which or below which the unit lies.
    let root: ExaminedRoot
    /// The path of the last directory; empty for `/`.
    let path: [UInt8]
    /// What the last directory passes to its entries.
    let context: PurgeContext
    /// The number of levels from the search root to these entries: 0 when the root is one of them.
    let depthOfEntries: Int
    private var steps: [Step]
    private let begin: Begin

    /// The number of directories that stay open at most.
    static let longest = 64

    /// - Parameters:
    ///   - steps: the directories from `/` down, or only the last one if it is not used again.
    ///   - begin: when the first of them, or a mark above the root, was looked at.
    init(
        _ root: ExaminedRoot, _ path: [UInt8], _ context: PurgeContext, depthOfEntries: Int,
        steps: [Step], since begin: Begin
    ) {
        self.root = root
        self.path = path
        self.context = context
        self.depthOfEntries = depthOfEntries
        self.steps = steps
        self.begin = begin
    }

    func entry(_ name: [UInt8]) -> UnitEntry {
        let last = steps[steps.count - 1]
        return UnitEntry(
            name: name, parentPath: path, parent: last.directory, parentStatus: last.status)
    }

    /// The directories of the search: the root and those below it.
    var searchedDirectories: [OpenDirectory] { steps.suffix(depthOfEntries).map(\.directory) }

    /// Whether it leads to a directory of the search.
    func leads(to directory: ArraySlice<UInt8>) -> Bool {
        depthOfEntries > 0 && directory.elementsEqual(path)
    }

    /// Whether all its directories are open, and a later change of any of them would be seen.
    var canBeShared: Bool {
        steps[0].name.isEmpty && steps.allSatisfy { $0.sight != .none }
    }

    /// Whether it may be used again.
    var isUnchanged: Bool {
        guard timeSinceBoot() - begin.sinceBoot < .milliseconds(50) else { return false }
        do throws(Errno) {
            var above: OpenDirectory?
            for step in steps {
                let now =
                    if let above {
                        try above.status(of: step.name)
                    } else {
                        try step.directory.status()
                    }
                guard step.status.isSame(as: now), step.hasSameMarks else { return false }
                above = step.directory
            }
            return true
        } catch {
            return false
        }
    }

    /// Accepts the times of a directory after this process removed an entry of it, if it is the last
    /// one.
    ///
    /// - Returns: false when it may have changed otherwise, too.
    mutating func acceptRemoval(in directory: FileIdentity) -> Bool {
        let last = steps.count - 1
        let known = steps[last].status
        guard known.identity == directory else { return true }
        guard let now = try? steps[last].directory.status(), now.permissions == known.permissions,
            now.owner == known.owner, now.mountNumber == known.mountNumber
        else { return false }
        steps[last].status = now
        return true
    }
}

extension FileStatus {
    /// Whether two statuses are those of the same item on the same mount, which did not change in
    /// between: storing a mark changes the inode change time, as does moving the item.
    fileprivate func isSame(as other: FileStatus) -> Bool {
        identity == other.identity && mountNumber == other.mountNumber && owner == other.owner
            && permissions == other.permissions
            && attributeModificationTime == other.attributeModificationTime
    }
}

extension OpenDirectory {
    /// Its marks; nil if they cannot be read.
    fileprivate var marks: Marks? { try? location(of: ".").marks() }
}
