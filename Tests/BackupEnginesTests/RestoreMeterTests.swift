import Glibc
import SystemCalls
import Testing

@testable import BackupEngines

@Suite("What a restore with restic has done")
struct RestoreMeterTests {
    @Test("is what was written, then what was read since restic began to compare")
    func steps() {
        let reports = Monitor<[BackupProgress]>([])
        let meter = RestoreMeter(totalBytes: 100) { progress in
            reports.withLock { $0.append(progress) }
        }
        meter.note(ProcessTraffic(readBytes: 50, writtenBytes: 30))
        // restic writes to its cache, too.
        meter.note(ProcessTraffic(readBytes: 300, writtenBytes: 120))
        let lines = RestoreLines(meter: meter)
        lines.receive(line: Array("restoring <Snapshot 1> to verifying files in there".utf8)[...])
        lines.receive(line: Array("verifying files in there".utf8)[...])
        meter.note(ProcessTraffic(readBytes: 340, writtenBytes: 121))
        let told = reports.withLock { $0 }
        #expect(
            told.map(\.step) == [
                .contentRestored, .contentRestored, .contentRestored, .contentCompared,
                .contentCompared,
            ])
        #expect(told.map(\.bytesDone) == [0, 30, 100, 0, 40])
        #expect(told.allSatisfy { $0.bytesTotal == 100 && $0.filesTotal == 0 })
    }

    @Test("is unknown in percent when the size is")
    func unknown() {
        let reports = Monitor<[BackupProgress]>([])
        let meter = RestoreMeter(totalBytes: 0) { progress in
            reports.withLock { $0.append(progress) }
        }
        meter.note(ProcessTraffic(readBytes: 0, writtenBytes: 30))
        #expect(reports.withLock { $0 }.map(\.bytesDone) == [0, 30])
    }

    @Test("the kernel tells of a process that runs, and of no other")
    func traffic() throws {
        let before = try #require(ProcessTraffic(of: getpid()))
        let bytes = [UInt8](repeating: 0, count: 5000)
        let file = open("/dev/null", O_WRONLY)
        #expect(write(file, bytes, bytes.count) == bytes.count)
        close(file)
        let after = try #require(ProcessTraffic(of: getpid()))
        #expect(after.writtenBytes >= before.writtenBytes + 5000)
        #expect(ProcessTraffic(of: .max) == nil)
    }
}
