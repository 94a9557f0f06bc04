import SystemPackage
import TestSupport
import Testing

@Suite("Samples of Apple's services", .cleansUp)
struct SampleTests {
    @Test("protected data, memory warnings and metrics do what they do on iOS")
    func samples() throws {
        let root = try temporaryDirectory { Directory("data") }
        let command = Command(
            .built("services-tool"), "samples", root.appending("data"),
            environment: ["HOME": root.string, "XDG_STATE_HOME": root.appending("state").string])
        let lines = try linesOfOutput(of: command)
        #expect(
            lines.prefix(4) == [
                "unavailable", "available", "image cache cleared", "received: 1 files of data",
            ])
        let payload = try #require(lines.last)
        #expect(payload.contains(#""totalDataFileSize":4,"totalDataFileCount":1,"#))
        #expect(payload.contains(#""totalBinaryFileCount":1,"#))
        #expect(lines.count == 5)
        // The payload of the day is there already.
        let again = try linesOfOutput(of: command)
        #expect(again.prefix(4) == lines.prefix(3) + lines.suffix(1))
        #expect(again.count == 4)
    }

    /// Returns the lines that a run of the samples prints, without memory warnings after the first,
    /// which the kernel causes when the machine is short of memory.
    private func linesOfOutput(of command: Command) throws -> [Substring] {
        let lines = try command.runSuccessfully().split(separator: "\n")
        return lines.prefix(3) + lines.dropFirst(3).filter { $0 != "image cache cleared" }
    }
}
