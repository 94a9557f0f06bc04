import Testing

@testable import CommandSupport

@Suite("Progress")
struct ProgressTests {
    private static let second = 1_000_000_000

    private func step(
        done: Int?, of total: Int? = nil, bytes: Int64 = 0, ofBytes totalBytes: Int64? = nil
    ) -> ProgressStep {
        var step = ProgressStep(noun: "files")
        step.flow = (0, 0, 0)
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
                == "files: 1, 10.0 MiB of 10.0 GiB, 0 %, 1.0 MiB/s")
        #expect(
            step(done: 1, bytes: 10 << 20, ofBytes: 8 << 30).text(at: ten)
                == "files: 1, 10.0 MiB of 8.0 GiB, 0 %, 1.0 MiB/s, 2:16:22 left")
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
        #expect(text == "files: 5 of 4, 30 B of 20 B, finishing, 10 B/s")
    }

    @Test("is never wider than it may be, and drops first what matters least")
    func width() {
        let step = step(done: 123_456, of: 200_000, bytes: 10 << 30, ofBytes: 20 << 30)
        let now = 1000 * Self.second
        let whole =
            "files: 123456 of 200000, 10.0 GiB of 20.0 GiB, 50 %, 10.2 MiB/s, 16:40 left"
        #expect(step.text(at: now, width: 79) == whole)
        for (width, text) in [
            (70, "files: 123456 of 200000, 10.0 GiB of 20.0 GiB, 50 %, 16:40 left"),
            (60, "files: 123456 of 200000, 50 %, 16:40 left"),
            (30, "files: 123456 of 200000, 50 %"), (20, "files: 50 %"), (8, "files"), (3, "fil"),
        ] { #expect(step.text(at: now, width: width) == text) }
        for width in 0..<100 { #expect(step.text(at: now, width: width).count <= width) }
    }

    @Test("tells no time left before anything says how fast it goes")
    func flow() {
        var step = ProgressStep(noun: "content")
        step.totalBytes = 10 << 30
        let minute = 60 * Self.second
        step.noteFlow(at: minute)
        #expect(step.text(at: minute) == "content: 0 B of 10.0 GiB, 0 %")
        step.bytes = 1
        step.noteFlow(at: minute)
        #expect(step.text(at: 2 * minute) == "content: 1 B of 10.0 GiB, 0 %")
        step.bytes = (1 << 30) + 1
        step.noteFlow(at: 2 * minute)
        #expect(
            step.text(at: 2 * minute) == "content: 1.0 GiB of 10.0 GiB, 10 %, 17.1 MiB/s, 9:00 left"
        )
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
