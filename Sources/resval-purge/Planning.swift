import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

/// A plan, with the results of the search for it.
struct MadePlan {
    let plan: PurgePlan
    let found: FoundUnits
    let kept: KeptItems
    /// The search that the plan's units are checked by.
    let search: UnitSearch
    let volume: FilePath
}

extension PurgeEnvironment {
    /// Makes a plan for the commands `plan` and `run`, and records how much may be deleted on the
    /// volume.
    ///
    /// - Parameters:
    ///   - listed: what alone may be in the plan; nil for anything.
    ///   - kept: receives the kept items.
    func makePlan(
        for target: TargetOptions, below roots: [PathArgument], only listed: Set<[UInt8]>? = nil,
        _ kept: KeptItems, _ progress: ProgressOptions
    ) throws -> MadePlan {
        var realRoots: [FilePath] = []
        for root in roots { realRoots.append(try NamedItem(at: root.path).path) }
        let volume = try volume(realRoots)
        let space = try StorageSpace(at: volume)
        guard let bytes = space.bytes else {
            throw FileError(
                code: .unsupportedFilesystem, message: "its filesystem does not count its space",
                path: volume)
        }
        let display = progress.begin(counting: "items examined")
        let search = search(realRoots, space, display)
        let wanted = target.wanted(of: bytes, search.countsInodes ? space.inodeAmounts : [])
        var (plan, found): (PurgePlan, FoundUnits)
        do {
            defer { display.end() }
            (plan, found) = try search.plan(freeing: wanted, on: volume) { kept.note($0, $1) }
        } catch is CancellationError {
            // The signal ends the program.
            throw ExitCode(2)
        }
        kept.finish()
        record(found.totals.certainBytes, plan)
        if let listed { plan = plan.only(listed) }
        return MadePlan(
            plan: plan, found: found, kept: kept, search: self.search(realRoots, space),
            volume: volume)
    }
}

extension PurgePlan {
    var missing: PurgeAmount { wanted.missing(in: amount) }
}

extension PurgeAmount {
    var isEmpty: Bool { self == PurgeAmount() }

    /// The amount for people: bytes, inodes, or both, as far as these are wanted.
    ///
    /// - Parameter wanted: the amount that counts; nil for this one.
    func text(for wanted: PurgeAmount? = nil) -> String {
        let wanted = wanted ?? self
        let parts = [
            wanted.bytes > 0 || wanted.inodes == 0 ? sizeText(bytes) : nil,
            wanted.inodes > 0 ? counted(inodes, "inode") : nil,
        ]
        return parts.compactMap(\.self).joined(separator: " and ")
    }
}

/// Records how many bytes can still be freed for certain on a plan's volume, which programs count as
/// available when they ask how much they can store there. A failure is only a warning, since
/// nothing else depends on it.
func record(_ bytes: Int64, _ plan: PurgePlan) {
    do throws(FileError) {
        try PurgeRecords.current?.write(bytes, of: plan)
    } catch {
        Messages.warn(about: error.path?.bytes, error.description)
    }
}

extension PurgeRecords {
    /// Records how many bytes can still be freed on a plan's volume: for each of its subvolumes that
    /// the plan knows.
    func write(_ bytes: Int64, of plan: PurgePlan) throws(FileError) {
        for device in Set(plan.units.map(\.identity.device)).union([plan.device]) {
            try write(
                PurgeRecord(
                    created: plan.created, device: device, bootID: plan.bootID, bytes: bytes))
        }
    }
}

struct KeptCounts: Sendable {
    private var counts: [String: Int] = [:]
    private var minimumAges: Set<Int64> = []

    mutating func note(_ reason: KeepReason) {
        counts[reason.name, default: 0] += 1
        if case .tooYoung(let age) = reason { minimumAges.insert(age) }
    }

    /// The number of items for each reason, the most frequent first.
    var byReason: [(name: String, count: Int)] {
        counts.map { ($0.key, $0.value) }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    var tooYoung: Int { counts[Self.tooYoungName] ?? 0 }

    /// When the items that are too young were used or changed: `less than 24h ago`.
    var tooYoungSentence: String {
        "less than \(minimumAges.sorted().map(ageText).joined(separator: " or ")) ago"
    }

    /// The reasons in one line, with how old is old enough; empty when nothing was kept.
    var text: String {
        byReason.map { name, count in
            let age = name == Self.tooYoungName ? " (used or changed \(tooYoungSentence))" : ""
            return "\(count) \(name == Self.notACacheName ? "only like a cache" : name)\(age)"
        }.joined(separator: ", ")
    }

    private static let tooYoungName = KeepReason.tooYoung(minimumAge: 0).name
    private static let notACacheName = KeepReason.notACache("").name
}

/// Counts the kept items by reason, and prints each one if requested. Shared by threads.
final class KeptItems: Sendable {
    private struct State {
        var counts = KeptCounts()
        var lines: [[UInt8]] = []
        var putAside: Set<[UInt8]> = []
    }

    private let state = Monitor(State())
    private let form: RecordOptions.Form
    private let isListed: Bool
    private let toldLeftovers: Set<[UInt8]>

    init(_ form: RecordOptions.Form, isListed: Bool, toldLeftovers: Set<[UInt8]> = []) {
        self.form = form
        self.isListed = isListed
        self.toldLeftovers = toldLeftovers
    }

    func note(_ path: [UInt8], _ reason: KeepReason) {
        state.withLock { state in
            state.counts.note(reason)
            if reason == .putAside, !toldLeftovers.contains(path) { state.putAside.insert(path) }
            guard isListed else { return }
            state.lines.append(record(path, reason))
        }
    }

    /// Prints the items in an order that does not depend on that in which threads met them, and tells of what
    /// a purge put aside, which stays until a user looks through it.
    func finish(_ log: ServiceLog = .current) {
        state.withLock { state in
            for path in state.putAside.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                log.write(
                    .notice, about: path,
                    "a purge put it, or something in it, aside: look through what the next run "
                        + "leaves, then delete it or give it another name")
            }
            state.lines.sort { $0.lexicographicallyPrecedes($1) }
            var buffer = OutputBuffer()
            for line in state.lines {
                buffer.append(bytes: line)
                buffer.endRecord()
            }
            buffer.flush()
            state.lines = []
        }
    }

    var counts: KeptCounts { state.withLock { $0.counts } }

    private func record(_ path: [UInt8], _ reason: KeepReason) -> [UInt8] {
        guard form == .json else {
            return Array("kept  \(NameEscaping.text(path)): \(reason.sentence)\n".utf8)
        }
        return itemLine(type: "kept", path, reason: reason.name, reason.sentence).ended()
    }
}
