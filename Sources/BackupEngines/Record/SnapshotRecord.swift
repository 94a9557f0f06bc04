import BackupPlanning
import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// The record stored with each snapshot: what was excluded and why, and the facts that the next
/// snapshot is compared with.
///
/// JSON, one object per line. The first gives the format's version, the last the number of lines,
/// so that a truncated record is detected.
package struct SnapshotRecord: Sendable {
    /// The version of the format that is written. Readers reject a higher one.
    package static let version: Int64 = 1

    /// The record's text.
    package let bytes: [UInt8]

    /// Creates the record of a plan.
    ///
    /// - Parameters:
    ///   - facts: the facts of the plan.
    ///   - causes: the ways in which it covers less than the previous snapshot.
    ///   - holds: the reasons to keep earlier snapshots.
    package init(
        _ plan: BackupPlan, _ facts: RecordFacts, _ causes: [CoverageCause] = [],
        _ holds: [Hold] = []
    ) {
        var text = RecordText()
        text.add("facts") { line in
            line.add("items", facts.items)
            line.add("bytes", facts.bytes)
            line.add("excludedItems", facts.excludedItems)
            line.add("markers", strings: facts.markers)
            line.add("usesLocations", facts.usesLocations)
        }
        for source in facts.sources {
            text.add("source") { line in
                line.add(path: source.path)
                line.add("filesystem", source.filesystem)
                line.add("isEmpty", source.isEmpty)
            }
        }
        for cause in causes {
            text.add("coverage") { line in
                line.add("cause", cause.name)
                if let path = cause.path { line.add(path: path) }
                line.add("sentence", cause.sentence)
            }
        }
        for hold in holds {
            text.add("hold") { line in
                if let part = hold.part { line.add(path: part) }
                line.add("snapshot", hold.snapshot)
                line.add("since", hold.since)
            }
        }
        for item in plan.protectedItems {
            text.add("protected") { line in
                line.add(path: item.path.bytes)
                line.add("class", item.protectionClass.attributeText)
            }
        }
        for file in plan.filesWithoutContent {
            text.add("missing") { line in
                line.add(path: file.path.bytes)
                line.add("size", file.size)
                if let modified = file.modified { line.add("modified", modified) }
            }
        }
        // In the order of a snapshot's entries, so that two records can be read in parallel.
        let exclusions = plan.exclusions.map { (path: $0.path.bytes, item: $0) }
            .sorted { pathPrecedes($0.path, $1.path) }
        for (path, item) in exclusions {
            text.add("excluded") { line in
                line.add(path: path)
                line.add("isDirectory", item.isDirectory)
                line.add("reason", item.reason.name)
                line.add("sentence", item.reason.sentence)
                if let file = item.reason.placeholder {
                    line.add(
                        "evicted", String(decoding: file.record.attribute.bytes, as: UTF8.self))
                    line.add("owner", Int64(file.owner))
                    line.add("size", file.size)
                }
            }
        }
        bytes = text.ended()
    }

    /// Creates the record of a snapshot of evicted files, which are numbered in this order.
    init(keeping files: [KeptFile]) {
        var text = RecordText()
        for file in files { text.add("kept") { file.write(to: &$0) } }
        bytes = text.ended()
    }
}

private struct RecordText {
    private var bytes: [UInt8] = []
    private var count = 0

    init() {
        add("format") { line in
            line.add("format", "resval-record")
            line.add("version", SnapshotRecord.version)
        }
    }

    mutating func add(_ type: String, _ body: (inout JSONLine) -> Void) {
        var line = JSONLine()
        line.add("type", type)
        body(&line)
        bytes += line.ended()
        count += 1
    }

    consuming func ended() -> [UInt8] {
        let count = count
        add("end") { $0.add("lines", count + 1) }
        return bytes
    }
}
