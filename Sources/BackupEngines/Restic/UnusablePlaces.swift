import SystemCalls
import SystemPackage

/// What restic cannot write to, found out while its commands run.
final class UnusablePlaces: Sendable {
    /// Something that is found out once.
    final class Finding: Sendable {
        private let value = Monitor(false)

        var isSet: Bool { value.withLock { $0 } }

        /// - Returns: whether it was not set before.
        func set() -> Bool {
            value.withLock { value in
                defer { value = true }
                return !value
            }
        }
    }

    /// The repository's locks.
    let locks = Finding()
    /// The cache.
    let cache = Finding()
}

extension Restic {
    /// Whether locks can be written, as far as this machine can tell: on a disk that is full, and
    /// elsewhere, restic finds out.
    var locksCanBeWritten: Bool {
        guard let locks = repository.directory?.appending("locks") else { return true }
        do throws(Errno) {
            guard try locks.isAccessible(for: .write) else { return false }
            return try locks.isAccessible(for: .execute)
        } catch {
            // restic says what is wrong with it.
            return true
        }
    }

    /// That the locks cannot be written: restic would try for the better part of a minute.
    var locksNotWritable: BackupError {
        BackupError(
            .notWritable, "the repository's directory of locks cannot be written to",
            advice: "check its owner, permissions and mount options",
            path: repository.directory?.appending("locks"))
    }
}

extension ResticCommand {
    /// Whether it changes nothing in the repository, and so can do without a lock.
    var onlyReads: Bool {
        ["cat", "check", "diff", "dump", "find", "list", "ls", "restore", "snapshots", "stats"]
            .contains(name)
    }

    /// Whether it has an option.
    func has(_ option: String) -> Bool { options.contains(Array(option.utf8)) }

    /// Gives it an option that it may have already.
    mutating func set(_ option: String) {
        if !has(option) { options.append(Array(option.utf8)) }
    }
}

extension FailureText {
    /// Whether restic ended because it could not write a lock, and not because of another's.
    var tellsOfUnwritableLock: Bool {
        line(containing: "unable to create lock in backend") != nil
            && line(containing: "repository is already locked") == nil
    }
}

extension ResticEnvironment {
    /// Less than this, in bytes, is no room for a cache.
    private static let smallestRoom: UInt64 = 16 << 20

    /// Whether there is no room left where restic keeps its cache.
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
                // restic finds out.
                return false
            }
        }
    }
}
