import SystemCalls
import SystemPackage

/// What a restore brought back.
package struct RestoreResult: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// How many items were looked at after the restore.
    package let items: Int
    /// Items that are not as they are in the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong besides, in words: complaints of the engine that name none of the items.
    package let complaints: [String]
    /// Directories below the target that restores left that were killed.
    package let leftovers: [FilePath]
    /// Evicted files that were asked for, which the snapshot left out.
    package var evicted: [RecordedExclusion] = []

    package init(
        snapshot: Snapshot, items: Int, failures: [RestoreFailure], complaints: [String] = [],
        leftovers: [FilePath] = []
    ) {
        self.snapshot = snapshot
        self.items = items
        self.failures = failures.oncePerFilesystem
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
        self.complaints = complaints
        self.leftovers = leftovers
    }

    /// Whether everything that was asked for is as it is in the snapshot.
    package var isComplete: Bool { failures.isEmpty && complaints.isEmpty }

    /// How many items are as they are in the snapshot.
    package var wholeItems: Int {
        var count = Set(failures.map(\.path)).count
        for case .noAttributes(_, let items) in failures.map(\.cause) { count += items - 1 }
        return max(0, items - count)
    }

    /// Whether none of the items is there.
    package var isNothing: Bool {
        let missing = failures.filter { if case .missing = $0.cause { true } else { false } }
        return items + evicted.count > 0 && Set(missing.map(\.path)).count >= items
    }
}

extension [RestoreFailure] {
    /// The failures, with one for all items that a filesystem without extended attributes cost theirs,
    /// which names the first of them.
    fileprivate var oncePerFilesystem: [RestoreFailure] {
        var lost: [UInt64: [[UInt8]: Int]] = [:]
        for failure in self {
            guard case .noAttributes(let device, let items) = failure.cause else { continue }
            lost[device, default: [:]][failure.path] = items
        }
        let others = filter { if case .noAttributes = $0.cause { false } else { true } }
        return others
            + lost.compactMap { device, items in
                items.keys.min { $0.lexicographicallyPrecedes($1) }.map {
                    RestoreFailure(
                        path: $0,
                        cause: .noAttributes(device: device, items: items.values.reduce(0, +)))
                }
            }
    }
}

extension RestoreFailure.Cause {
    /// Why extended attributes could not be stored.
    ///
    /// - Parameter file: what they were to be stored on, which is open.
    init(_ error: FileError, storingAttributesOn file: FileDescriptor) {
        if error.code == .unsupportedFilesystem, let status = try? file.status() {
            self = .noAttributes(device: status.identity.device, items: 1)
        } else {
            self = .attributes(error.message)
        }
    }
}
