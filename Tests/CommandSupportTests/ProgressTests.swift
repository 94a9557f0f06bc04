import Testing

@testable import CommandSupport

@Suite("Progress")
struct ProgressTests {
    private static let second = 1_000_000_000

    private func step(
        done: Int?, of total: Int? = nil, bytes: Int64 = 0, ofBytes totalBytes: Int64? = nil
    ) -> ProgressStep {
        var step = ProgressStep(noun: "files", start: 0)
        step.done = done
        step.total = total
        step.bytes = bytes
        step.totalBytes = totalBytes
        return step
    }

    @Test("tells counts, bytes, percent, rate and the time left, each where it is known")
    func text() {
        let ten = 10 * Self.second
        #expect(step(done: 7).text(at: ten) == "files: 7")
        #expect(step(done: 1, of: 4).text(at: ten) == "files: 1 of 4, 25 %, 0:30 left")
        #expect(
            step(done: 1, of: 4, bytes: 10 << 20, ofBytes: 20 << 20).text(at: ten)
                == "files: 1 of 4, 10.0 MiB of 20.0 MiB, 50 %, 1.0 MiB/s, 0:10 left")
        #expect(
            step(done: 1, bytes: 10 << 20, ofBytes: 10 << 30).text(at: ten)
                == "files: 1, 10.0 MiB of 10.0 GiB, 0 %, 1.0 MiB/s, 2:50:30 left")
        #expect(step(done: nil).text(at: ten) == "files")
        #expect(
            step(done: nil, bytes: 10 << 20, ofBytes: 20 << 20).text(at: ten)
                == "files: 10.0 MiB of 20.0 MiB, 50 %, 1.0 MiB/s, 0:10 left")
        #expect(step(done: 0, of: 4).text(at: ten) == "files: 0 of 4, 0 %")
        #expect(step(done: 0, of: 0, ofBytes: 0).text(at: 0) == "files: 0 of 0, 0 B of 0 B")
    }

    @Test("is never more than the whole, whatever grows meanwhile")
    func whole() {
        let text = step(done: 5, of: 4, bytes: 30, ofBytes: 20).text(at: 3 * Self.second)
        #expect(text == "files: 5 of 4, 30 B of 20 B, 100 %, 10 B/s, 0:00 left")
    }

    @Test("is a JSON object with the same fields in every step")
    func json() {
        let known = step(done: 1, of: 4, bytes: 100, ofBytes: 400).json(at: 10 * Self.second)
        #expect(
            String(decoding: known, as: UTF8.self)
                == #"{"version":1,"type":"progress","step":"files","done":1,"total":4,"bytes":100,"#
                + #""totalBytes":400,"percent":25,"bytesPerSecond":10,"secondsLeft":30}"# + "\n")
        let unknown = step(done: 1).json(at: 10 * Self.second)
        #expect(
            String(decoding: unknown, as: UTF8.self)
                == #"{"version":1,"type":"progress","step":"files","done":1,"total":null,"bytes":null,"#
                + #""totalBytes":null,"percent":null,"bytesPerSecond":null,"secondsLeft":null}"#
                + "\n")
    }
}
