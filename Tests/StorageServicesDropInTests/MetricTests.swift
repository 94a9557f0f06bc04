import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("Metrics", .cleansUp)
struct MetricTests {
    private let tree = Tree {
        Directory("data") {
            File("letter", "12345")
            Directory("more") { File("picture", String(repeating: "x", count: 10_000)) }
        }
        Directory("program") { File("album", "1234567") }
        Directory("state")
    }

    @Test("what a program takes is told by kind, and what is missing takes nothing")
    func numbers() throws {
        let root = try temporaryDirectory(containing: tree)
        let roots = [root.appending("data"), root.appending("program")]
        let metric = try ProgramFiles(
            installation: [roots[1], root.appending("missing")], data: [roots[0]]
        ).measure()
        #expect(metric.totalBinaryFileSize.converted(to: .bytes).value == 7)
        #expect(metric.totalBinaryFileCount == 1)
        #expect(metric.totalDataFileSize.converted(to: .bytes).value == 10_005)
        #expect(metric.totalDataFileCount == 2)
        let files = ["data/letter", "data/more/picture", "program/album"]
        let allocated = try files.map { try root.appending($0).status().allocatedSize }
        #expect(metric.totalDiskSpaceUsedSize.value >= Double(allocated.reduce(0, +)))
        #expect(metric.totalCacheFolderSize.value == 0 && metric.totalCloneSize.value == 0)
        #expect(metric.totalDiskSpaceCapacity.value > metric.totalDiskSpaceUsedSize.value)
    }

    @Test("a payload is read as it was written")
    func json() throws {
        let metric = try #require(MXDiskSpaceUsageMetric([1, 2, 3, 4, 5, 6, 7, 8]))
        let begin = FileTime(seconds: 86_400, nanoseconds: 250_000_000)
        let end = FileTime(seconds: 172_800, nanoseconds: 0)
        let payload = MXMetricPayload(version: "1.\"2\"", begin: begin, end: end, .success(metric))
        let read = try #require(MXMetricPayload(json: Array(payload.jsonRepresentation())[...]))
        #expect(read.diskSpaceUsageMetrics?.numbers == metric.numbers)
        #expect(read.latestApplicationVersion == "1.\"2\"")
        #expect(FileTime(read.timeStampBegin) == begin && FileTime(read.timeStampEnd) == end)
        let object = try #require(
            JSONSerialization.jsonObject(with: payload.jsonRepresentation()) as? [String: Any])
        #expect(Set(object.keys) == Set(payload.dictionaryRepresentation().keys.map { "\($0)" }))
        let numbers = try #require(object["diskSpaceUsageMetrics"] as? [String: Int])
        #expect(numbers == metric.dictionaryRepresentation() as? [String: Int])
        let failed = MXMetricPayload(
            version: "", begin: begin, end: end, .failure(FileError(code: .other, message: "why")))
        let readFailed = try #require(
            MXMetricPayload(json: Array(failed.jsonRepresentation())[...]))
        #expect(readFailed.diskSpaceUsageMetrics == nil)
        #expect(readFailed.diskSpaceUsageObstacle == "why")
        #expect(MXMetricPayload(json: Array("{}".utf8)[...]) == nil)
    }

    @Test("there is one payload a day, whichever process asks, and at most 30 are kept")
    func daily() throws {
        let root = try temporaryDirectory(containing: tree)
        let history = PayloadHistory(path: root.appending("state/resval/metrics/album.jsonl"))
        let clock = Monitor<Int64>(1_000_000)
        let received = Received()
        /// A process that adds a subscriber, and what it receives.
        func process(at seconds: Int64) throws -> Int {
            clock.withLock { $0 = seconds }
            let manager = MXMetricManager(history: history) {
                FileTime(seconds: clock.withLock { $0 }, nanoseconds: 0)
            }
            manager.dataDirectories = [URL(fileURLWithPath: root.appending("data").string)]
            manager.installation = []
            let before = received.count
            manager.add(received)
            manager.waitUntilIdle()
            manager.remove(received)
            return received.count - before
        }
        let day: Int64 = 86_400
        #expect(try process(at: 1_000_000) == 1)
        #expect(try process(at: 1_000_000 + day - 1) == 0)
        #expect(try process(at: 1_000_000 + day) == 1)
        #expect(try process(at: 1_000_000 + 4 * day) == 1)
        // A clock that was wrong does not stop the payloads.
        #expect(try process(at: 500_000) == 1)
        let payloads = try history.payloads()
        #expect(
            payloads.map { FileTime($0.timeStampEnd).seconds } == [
                1_000_000, 1_000_000 + day, 1_000_000 + 4 * day, 500_000,
            ])
        #expect(
            payloads.map { FileTime($0.timeStampBegin).seconds } == [
                1_000_000 - day, 1_000_000, 1_000_000 + 3 * day, 500_000 - day,
            ])
        #expect(payloads.allSatisfy { $0.diskSpaceUsageMetrics?.totalDataFileCount == 2 })
        for number in 1...40 { #expect(try process(at: 500_000 + Int64(number) * day) == 1) }
        #expect(try history.payloads().count == 30)
    }

    @Test("what cannot be read in the history is skipped, and a history of others is refused")
    func history() throws {
        let payload = MXMetricPayload(
            version: "", begin: FileTime(seconds: 1, nanoseconds: 0),
            end: FileTime(seconds: 2, nanoseconds: 0),
            .failure(FileError(code: .other, message: "why")))
        let line = String(decoding: payload.jsonRepresentation(), as: UTF8.self)
        let root = try temporaryDirectory {
            Directory("resval") {
                File("album.jsonl", "torn\n\(line){\"timeStampEnd\":\n").permissions(0o600)
                File("open.jsonl", line).permissions(0o666)
            }.permissions(0o755)
        }
        let directory = root.appending("resval")
        let payloads = try PayloadHistory(path: directory.appending("album.jsonl")).payloads()
        #expect(payloads.count == 1)
        #expect(throws: FileError.self) {
            try PayloadHistory(path: directory.appending("open.jsonl")).payloads()
        }
    }
}

/// Counts payloads.
private final class Received: NSObject, MXMetricManagerSubscriber, @unchecked Sendable {
    private let payloads = Monitor(0)
    var count: Int { payloads.withLock { $0 } }
    func didReceive(_ payloads: [MXMetricPayload]) {
        self.payloads.withLock { $0 += payloads.count }
    }
}
