import BackupPlanning
import SystemCalls
import SystemPackage

/// An item that should be in a snapshot but is missing from it, or differs from the item on disk.
package struct Shortfall: Sendable, Hashable {
    /// What happened to it.
    package enum Cause: Sendable, Hashable {
        /// It could not be read.
        case unreadable(Errno)
        /// It could not be inspected when the plan was made; the reason in words.
        case unplanned(String)
        /// It was moved while the plan was made, so the plan may not contain it under any path.
        case moved
        /// Its path is longer than the engine can open.
        case tooLong
        /// It existed when the backup began, and was deleted or moved since.
        case vanished
        /// It changed while it was read, so the stored content may mix two versions; or another
        /// item has taken its path.
        case changed
        /// It was evicted while the backup ran, so its content may be stored as zeros.
        case evicted
        /// It exists and can be read, but is not in the snapshot.
        case missing
        /// It is a symbolic link whose target is not UTF-8: the engine stores an altered target.
        case linkTargetLost
        /// It is stored with another modification time: the engine supports only years 0 to 9999.
        case timeLost
        /// It is stored without some of its extended attributes; the reason in words.
        case attributes(String)
        /// The engine could not store it, and gave no reason.
        case refused
    }

    /// The path's bytes; bytes that the engine could not report are 0xFF.
    package let path: [UInt8]
    /// What happened to it.
    package let cause: Cause

    package init(path: [UInt8], cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// What happened, in words, and what to do about it.
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

    /// Whether the item merely changed or disappeared while the backup ran. This is no reason to
    /// keep old snapshots: few snapshots of a system in use are free of such items.
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

/// Collects shortfalls from several sources: each path once, with the best known cause.
struct ShortfallList {
    private var causes: [[UInt8]: Shortfall.Cause] = [:]

    /// Creates a list with the shortfalls that the plan knows.
    init(_ plan: BackupPlan) {
        for notice in plan.notices where notice.isShortfall {
            causes[notice.path.bytes] =
                switch notice.matter {
                case .moved: .moved
                case .attributeName: .attributes("one has a name that is not UTF-8")
                default: .unplanned(notice.sentence)
                }
        }
        for item in plan.exclusions where item.reason.isShortfall {
            causes[item.path.bytes] =
                item.reason == .tooLong ? .tooLong : .unplanned(item.reason.sentence)
        }
    }

    mutating func add(_ shortfalls: [Shortfall]) {
        for shortfall in shortfalls where causes[shortfall.path] == nil {
            causes[shortfall.path] = shortfall.cause
        }
    }

    /// Adds items that the engine reported, by their exact names where these are known. The
    /// engine's error for an unreadable item takes precedence: a file can be opened on a device
    /// that fails later.
    mutating func add(inexact shortfalls: [Shortfall]) {
        for shortfall in shortfalls {
            let path = knownPath(shortfall.path)
            switch (causes[path], shortfall.cause) {
            case (nil, _), (.missing?, .unreadable): causes[path] = shortfall.cause
            default: break
            }
        }
    }

    var sorted: [Shortfall] {
        causes.map { Shortfall(path: $0.key, cause: $0.value) }
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// Returns the exact path for a name that an engine reports without some of its bytes; the name
    /// itself when no path is known.
    private func knownPath(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(JSONScanner.lostByte) else { return name }
        return causes.keys.first { known in
            known.count == name.count
                && zip(name, known).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
        } ?? name
    }
}
