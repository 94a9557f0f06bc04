import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Progress with archives")
struct ArchiveProgressTests {
    private static let tree = Tree {
        for number in 0..<5 {
            File(FileName(Array("\(number)".utf8)), [UInt8](repeating: UInt8(number), count: 5000))
        }
        HardLink("link", to: "0")
        SparseFile("sparse", hole: 1 << 20, data: "data")
    }

    /// The reports of one step, which must begin with nothing and end with everything.
    private func expectWhole(
        _ reports: Monitor<[BackupProgress]>, _ step: BackupProgress.Step, files: Int64?,
        bytes: Int64?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let reports = reports.withLock { $0 }.filter { $0.step == step }
        let (first, last) = try (#require(reports.first), #require(reports.last))
        #expect(
            first.filesDone == 0 && first.bytesDone == 0, "\(first)",
            sourceLocation: sourceLocation)
        #expect(last.filesDone == last.filesTotal, "\(last)", sourceLocation: sourceLocation)
        #expect(last.bytesDone == last.bytesTotal, "\(last)", sourceLocation: sourceLocation)
        if let files { #expect(last.filesDone == files, sourceLocation: sourceLocation) }
        if let bytes { #expect(last.bytesDone == bytes, sourceLocation: sourceLocation) }
        #expect(last.bytesTotal > 0, sourceLocation: sourceLocation)
    }

    @Test("storing, checking and restoring tell how much is done of how much")
    func steps() async throws {
        try await withArchives(of: Self.tree) { archives in
            let reports = Monitor<[BackupProgress]>([])
            let report = { @Sendable (progress: BackupProgress) in
                reports.withLock { $0.append(progress) }
            }
            let repository = try TarRepository(archives.repository.repository, progress: report)
            for _ in 1...2 { try await archives.store(report: report) }
            try expectWhole(reports, .contentCompared, files: 0, bytes: nil)
            for readsData in [false, true] {
                reports.withLock { $0 = [] }
                #expect(try await repository.check(readsData: readsData).problems == [])
                let part = readsData ? ".tar.zst" : ".manifest.jsonl.zst"
                let sizes = try archives.files(part).map { try $0.status().size }
                try expectWhole(
                    reports, .snapshotsChecked, files: 2, bytes: sizes.reduce(0, +))
            }
            reports.withLock { $0 = [] }
            let snapshot = try #require(try await repository.snapshots().first)
            let result = try await repository.restore(
                .identifier(snapshot.identifier), to: archives.target, report: report)
            #expect(result.isComplete, "\(result)")
            // The link has no content of its own, and a hole counts.
            try expectWhole(
                reports, .itemsRestored, files: result.items.map(Int64.init),
                bytes: 5 * 5000 + (1 << 20) + 4)
        }
    }
}
