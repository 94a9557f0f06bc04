import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A number of items, and the sizes of the files among them.
package struct Amount: Sendable, Hashable {
    package var items: Int64 = 0
    package var bytes: Int64 = 0

    mutating func add(_ other: Amount) {
        items.addSaturating(other.items)
        bytes.addSaturating(other.bytes)
    }

    /// Takes an amount away, down to nothing.
    mutating func subtract(_ other: Amount) {
        items = max(0, items.subtractingSaturating(other.items))
        bytes = max(0, bytes.subtractingSaturating(other.bytes))
    }

    /// What of it is less than 80 % of what there was; nil if neither is.
    func fall(from before: Amount) -> RecordedSource.Fall? {
        if Double(items) < Double(before.items) * 0.8 { return .items }
        return Double(bytes) < Double(before.bytes) * 0.8 ? .bytes : nil
    }
}

package struct RecordedSource: Sendable, Hashable {
    package enum Fall: String, Sendable, Hashable {
        case items, bytes, filesystem
    }

    package var path: [UInt8] = []
    /// The type of its filesystem, with the UUID if that is stable across reboots: `ext4 0b9d2a…`. Empty if
    /// unknown.
    package var filesystem = ""
    package var isEmpty = false
    /// Whether it did not exist, or was the empty place of a medium that was taken away.
    package var isMissing = false
    /// The mount point of the medium that it is on, or was the last time, if that can be taken away.
    var medium: String?
    /// How much of it there is, with its evicted files, whose content is in other snapshots.
    package var amount = Amount()
    var evicted: Int64 = 0
    /// What a fall is measured by: what there was of it when it was last there as a whole.
    var expected = Amount()
    var expectedFilesystem = ""
    /// How it fell; nil unless it is much less than expected.
    var fall: Fall?
    /// Whether so many of its paths went at once that its content may have; until it is accepted.
    var pathsGone = false
    /// The number of its files and directories that restic named in the snapshot judged last; nil if that is
    /// not known.
    var named: Int64?
}

extension RecordedSource {
    /// Inspects a SOURCE. Facts that cannot be read are omitted: the plan reports such errors.
    private init(lookingAt source: FilePath) {
        self.init(path: source.bytes)
        do throws(Errno) {
            let status = try source.withoutFollowing.status()
            if let volume = Volume(holding: status) {
                let uuid = volume.uuid.flatMap { $0.contains { !"0-".contains($0) } ? $0 : nil }
                filesystem = volume.mount.filesystemType + (uuid.map { " \($0)" } ?? "")
                let point = volume.mount.mountPoint
                if volume.mount.isRemovable { medium = String(validating: point) }
            }
            guard status.kind == .directory else { return }
            isEmpty = true
            try forEachName(in: source) { _ in
                isEmpty = false
                return false
            }
        } catch {
            // Deleted or unreadable: assumed not to be empty.
            isEmpty = false
        }
    }

    /// - Returns: those of the plan in its order, then the missing ones.
    static func all(in plan: BackupPlan, missing: [FilePath]) -> [RecordedSource] {
        let withoutContent = plan.pathsWithoutContent
        let placeholders = plan.exclusions.compactMap { item in
            item.reason.placeholder.flatMap {
                withoutContent.contains(item.path) ? nil : (path: item.path.bytes, size: $0.size)
            }
        }
        let present = zip(plan.sources, plan.sourceTotals).map { path, totals in
            var source = RecordedSource(lookingAt: path)
            source.amount = Amount(items: Int64(totals.storedItems), bytes: totals.storedBytes)
            for file in placeholders where isHeld(file.path, by: source.path) {
                source.evicted += 1
                source.amount.add(Amount(items: 1, bytes: file.size))
            }
            return source
        }
        return present
            + missing.map { path in
                var source = RecordedSource(path: path.bytes)
                source.isMissing = true
                return source
            }
    }
}

extension RecordedSource {
    /// Whether earlier snapshots may have what this one lacks of it.
    var hasFallen: Bool { fall != nil || pathsGone }

    /// Whether it is missing with the medium that it was on.
    var isAway: Bool { isMissing && medium != nil }

    /// Takes over what it is compared with from the same SOURCE of the snapshot before.
    mutating func takeOver(_ before: RecordedSource, _ mounts: MountTable?) {
        (expected, expectedFilesystem) = (before.expected, before.expectedFilesystem)
        (fall, pathsGone, named) = (before.fall, before.pathsGone, before.named)
        guard isMissing || isEmpty, let point = before.medium, let mounts,
            !mounts.mounts.contains(where: { $0.mountPoint == FilePath(point) })
        else { return }
        (isMissing, medium, named) = (true, point, nil)
    }

    /// Is compared with what there is of it from now on.
    mutating func expectItself() { (expected, expectedFilesystem) = (amount, filesystem) }

    /// Finds whether it fell, or is back.
    ///
    /// - Parameter excluded: how much of it the owner excluded since, which is no fall.
    mutating func compare(without excluded: Amount) {
        expected.subtract(excluded)
        fall = fallFromExpected
        if fall == nil { expectItself() }
    }

    var fallFromExpected: Fall? {
        if isMissing { return nil }
        // A medium that can be taken away may be another one.
        let isElsewhere =
            medium == nil && !filesystem.isEmpty && !expectedFilesystem.isEmpty
            && filesystem != expectedFilesystem
        return isElsewhere ? .filesystem : amount.fall(from: expected)
    }
}
