import Testing

@testable import CommandSupport

@Suite("Packing of operands")
struct ArgumentPackingTests {
    private let few = (0..<8).map { "f\($0)" }
    private let many = (0..<20).map { "m\($0)" }

    private func joined(_ operands: [String]) -> String {
        operands.joined(separator: "\u{F700}")
    }

    @Test("a run behind the first operands becomes one argument")
    func run() {
        let arguments = ["set"] + few + many
        #expect(ArgumentPacking.packed(arguments) == ["set"] + few + [joined(many)])
    }

    @Test("short lines of arguments stay as they are")
    func short() {
        #expect(ArgumentPacking.packed(["set"] + few + ["a", "b"]) == ["set"] + few + ["a", "b"])
    }

    @Test("options stay, and so does what may be the value of one")
    func options() {
        let packed = ArgumentPacking.packed(
            ["set"] + few + many + ["-R", "x", "y", "z", "--a=b", "v", "-", "w", "u", "t"])
        #expect(
            packed == ["set"] + few
                + [joined(many), "-R", "x", joined(["y", "z"]), "--a=b", "v", "-", "w"]
                + [joined(["u", "t"])])
    }

    @Test("behind the terminator everything is an operand")
    func terminator() {
        let last = ["-R", "--", "", "--a=b", "-"]
        #expect(
            ArgumentPacking.packed(["set"] + few + many + ["--"] + last)
                == ["set"] + few + [joined(many), "--", joined(last)])
    }

    @Test("a run is read as its paths, and never as a single path or a word")
    func reading() {
        let paths = ["a", "", "\u{301}b", "-c"].map { PathArgument(bytes: $0.utf8) }
        let run = joined(["a", "", "\u{301}b", "-c"])
        #expect(PathOperand(argument: run).map { [$0].paths } == paths)
        #expect(PathOperand(argument: "").map { [$0].paths } == [PathArgument(bytes: [])])
        #expect(PathArgument(argument: run) == nil)
    }
}
