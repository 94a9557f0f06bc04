import BackupPlanning
import EffectiveValues
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
    ///   - set: the SET of the snapshot.
    ///   - recorded: what is known of the snapshot before it is made.
    ///   - causes: the ways in which it covers less than the previous snapshot.
    init(
        _ plan: BackupPlan, _ facts: RecordFacts, _ set: SnapshotSet,
        _ recorded: Recorded, _ causes: [CoverageCause]
    ) {
        let snapshot = recorded.snapshot
        var text = RecordText()
        text.add("place") { line in
            line.add("set", set.text)
            line.add("number", snapshot.number)
            line.add("date", snapshot.date)
            line.add("predecessorDate", snapshot.predecessorDate)
            line.add("inOrder", Int64(snapshot.inOrder))
            line.add("judged", recorded.judged)
            // So that no two records are equal.
            line.add("nonce", randomIdentifier())
        }
        text.add("facts") { line in
            line.add("items", facts.items)
            line.add("bytes", facts.bytes)
            line.add("excludedItems", facts.excludedItems)
            line.add("markers", strings: facts.markers)
            line.add("usesLocations", facts.usesLocations)
        }
        text.add(recorded.sources, snapshot)
        for cause in causes {
            text.add("coverage") { line in
                line.add("cause", cause.name)
                if let path = cause.path { line.add(path: path) }
                line.add("sentence", cause.sentence)
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
        let owners = plan.exclusionsByDecider
        // In the order of a snapshot's entries, so that two records can be read in parallel.
        let exclusions = plan.exclusions.map { (path: $0.path.bytes, item: $0) }
            .sorted { pathPrecedes($0.path, $1.path) }
        for (path, item) in exclusions {
            text.add("excluded") { line in
                line.add(path: path)
                line.add("isDirectory", item.isDirectory)
                line.add("reason", item.reason.name)
                line.add("sentence", item.reason.sentence)
                if let isOwners = owners[path] { line.add("isOwners", isOwners) }
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

    /// Creates the verdict on a snapshot, which is kept beside the repository.
    init(verdict recorded: Recorded) {
        var text = RecordText()
        text.add("verdict") { line in
            line.add("snapshot", recorded.identifier)
            line.add("judged", recorded.judged)
            line.add("isJudged", recorded.isJudged)
            line.add("isComplete", recorded.isComplete)
        }
        text.add(recorded.sources, recorded.snapshot)
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

    /// Adds what the next snapshot is compared with.
    mutating func add(_ sources: [RecordFacts.Source], _ snapshot: RecordedSnapshot) {
        for source in sources {
            add("source") { line in
                line.add(path: source.path)
                line.add("filesystem", source.filesystem)
                line.add("isEmpty", source.isEmpty)
                line.add("isMissing", source.isMissing)
                line.add("items", source.amount.items)
                line.add("bytes", source.amount.bytes)
                line.add("evictedItems", source.amount.evicted)
                line.add("expectedItems", source.expected.items)
                line.add("expectedBytes", source.expected.bytes)
                line.add("expectedFilesystem", source.expected.filesystem)
                if let fall = source.fall { line.add("fall", fall.rawValue) }
                line.add("pathsGone", source.pathsGone)
                if let named = source.named { line.add("namedItems", named) }
            }
        }
        for hold in snapshot.holds {
            add("hold") { line in
                if hold.kind != .clock { line.add(path: hold.part) }
                line.add("kind", hold.kind.rawValue)
                line.add("number", hold.number)
                line.add("since", hold.since)
            }
        }
        for path in snapshot.unstored.paths { add("unstored") { $0.add(path: path) } }
        for path in snapshot.absent.paths { add("absent") { $0.add(path: path) } }
        for path in snapshot.deleted.paths { add("deleted") { $0.add(path: path) } }
        let formerSources = snapshot.fallen.subtracting(sources.map(\.path))
        for path in formerSources.sorted(by: pathPrecedes) { add("fallen") { $0.add(path: path) } }
    }

    consuming func ended() -> [UInt8] {
        let count = count
        add("end") { $0.add("lines", count + 1) }
        return bytes
    }
}
