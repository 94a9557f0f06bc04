import SystemPackage

/// An item that should be in a snapshot and is not, or not as it is on disk.
package struct Shortfall: Sendable, Hashable {
    /// What happened to it.
    package enum Cause: Sendable, Hashable {
        /// It could not be read.
        case unreadable(Errno)
        /// It could not be looked at when the plan was made; the reason in words.
        case unplanned(String)
        /// It was moved while the plan was made, which may not have met it under any name.
        case moved
        /// Its path is longer than the engine can open.
        case tooLong
        /// It was there when the backup began, and is gone.
        case vanished
        /// It changed while it was read, so what is stored may be of two moments; or something else has
        /// its name by now.
        case changed
        /// It was evicted while the backup ran, so its content may be stored as zeros.
        case evicted
        /// It is there and can be read, and is not in the snapshot.
        case missing
        /// The engine repairs the target of a symbolic link that is not UTF-8, and so stores another.
        case linkTargetLost
        /// It is there with another time of modification: the engine stores only years 0 to 9999.
        case timeLost
        /// It is there, without some of its extended attributes; the reason in words.
        case attributes(String)
        /// The engine could not store it, and did not say why.
        case refused
    }

    /// The path's bytes; bytes that the engine could not tell are 0xFF.
    package let path: [UInt8]
    /// What happened to it.
    package let cause: Cause

    package init(path: [UInt8], cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// What happened, in words, and how to go on.
    package var sentence: String {
        switch cause {
        case .unreadable(.ioError):
            "cannot be read and is not in the snapshot: \(Errno.ioError) "
                + "(check the device: dmesg, then fsck; an older snapshot may have the file)"
        case .unreadable(let error):
            "cannot be read and is not in the snapshot: \(error) "
                + "(run as a user who may read it, or exclude it)"
        case .unplanned(let reason): "is not in the snapshot: \(reason)"
        case .moved:
            "was moved while the plan was made, so it may not be in the snapshot "
                + "(run the backup again when nothing moves)"
        case .tooLong:
            "is not in the snapshot: its path is longer than the backup tool can open "
                + "(keep it nearer to the root of its filesystem)"
        case .vanished: "vanished while the backup ran (nothing to do if it was to go)"
        case .changed:
            "changed while it was being backed up, so the snapshot may hold parts of two versions "
                + "(run the backup again when it is at rest)"
        case .evicted:
            "was evicted while the backup ran, and may be in the snapshot without its content "
                + "(run the backup again)"
        case .missing: "is not in the snapshot, although it can be read (run the backup again)"
        case .linkTargetLost:
            "is in the snapshot with a wrong target: the backup tool cannot store one that is not UTF-8"
        case .timeLost:
            "is in the snapshot with another time: the backup tool stores only years 0 to 9999 "
                + "(give it such a time: touch)"
        case .attributes(let reason):
            "is in the snapshot without some of its extended attributes: \(reason)"
        case .refused: "could not be stored"
        }
    }

    /// Whether the item was at work while the backup ran, which is no reason to keep old snapshots: a
    /// snapshot without such items is seldom to be had.
    package var isPassing: Bool { cause == .changed || cause == .vanished }

    /// A short name for the cause.
    package var name: String {
        switch cause {
        case .unreadable: "unreadable"
        case .unplanned: "unplanned"
        case .moved: "moved"
        case .tooLong: "too-long"
        case .vanished: "vanished"
        case .changed: "changed"
        case .evicted: "evicted"
        case .missing: "missing"
        case .linkTargetLost: "link-target-lost"
        case .timeLost: "time-lost"
        case .attributes: "attributes"
        case .refused: "refused"
        }
    }
}
