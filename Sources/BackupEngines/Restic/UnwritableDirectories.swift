import SystemCalls
import SystemPackage

/// The directories that restic cannot write to, as its commands have shown.
final class UnwritableDirectories: Sendable {
    /// A fact that is discovered once.
    final class Finding: Sendable {
        private let value = Monitor(false)

        var isSet: Bool { value.withLock { $0 } }

        /// Sets the fact.
        ///
        /// - Returns: whether it was not set before.
        func set() -> Bool {
            value.withLock { value in
                defer { value = true }
                return !value
            }
        }
    }

    /// Whether the repository's locks cannot be written.
    let locks = Finding()
    /// Whether the disk of the cache is full.
    let cache = Finding()
}

extension Restic {
    /// Whether locks can be written, as far as this machine can tell: a full disk, or a remote
    /// repository, shows only when restic runs.
    var locksCanBeWritten: Bool {
        guard let locks = repository.directory?.appending("locks") else { return true }
        do throws(Errno) {
            guard try locks.isAccessible(for: .write) else { return false }
            return try locks.isAccessible(for: .execute)
        } catch {
            // restic reports the error.
            return true
        }
    }

    /// The error when locks cannot be written, thrown early because restic would retry for most of
    /// a minute.
    var locksNotWritable: BackupError {
        BackupError(
            .notWritable, "the repository's directory of locks cannot be written to",
            advice: "check its owner, permissions and mount options",
            path: repository.directory?.appending("locks"))
    }
}

extension ResticCommand {
    /// Whether it changes nothing in the repository, and so can run without a lock.
    var onlyReads: Bool {
        ["cat", "check", "diff", "dump", "find", "list", "ls", "restore", "snapshots", "stats"]
            .contains(name)
    }

    /// Whether it has an option.
    func has(_ option: String) -> Bool { options.contains(Array(option.utf8)) }

    /// Adds an option unless it is already there.
    mutating func set(_ option: String) {
        if !has(option) { options.append(Array(option.utf8)) }
    }
}

extension ResticEnd {
    /// Whether restic ended because it could not write a lock, not because another process has one.
    var tellsOfUnwritableLock: Bool {
        code == 1
            && FailureText(errors.lines).line(containing: "unable to create lock in backend") != nil
    }
}

extension ResticEnvironment {
    /// The least free space, in bytes, with which the cache is used.
    private static let smallestRoom: UInt64 = 16 << 20

    /// Whether there is too little space where restic keeps its cache.
    var cacheIsFull: Bool {
        guard var directory = cacheDirectory else { return false }
        while true {
            do throws(Errno) {
                let status = try filesystemStatus(of: directory)
                let blocks = effectiveUser() == 0 ? status.freeBlocks : status.availableBlocks
                return blocks.multipliedReportingOverflow(by: status.fragmentSize)
                    .partialValue < Self.smallestRoom
            } catch .noSuchFileOrDirectory where !directory.isEmpty && directory.isAbsolute {
                guard directory.removeLastComponent() else { return false }
            } catch {
                // restic reports the error.
                return false
            }
        }
    }
}
