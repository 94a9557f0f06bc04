import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("Units of background tasks")
struct TaskUnitTests {
    private let program = Array("photo-album".utf8)

    @Test(
        "names are escaped as by systemd-escape",
        arguments: [
            ("com.example.app.cleanup", "com.example.app.cleanup"), ("a-b", #"a\x2db"#),
            (".hidden", #"\x2ehidden"#), ("two words", #"two\x20words"#), ("é", #"\xc3\xa9"#),
            ("%h$PATH", #"\x25h\x24PATH"#), (#"a\x2d"#, #"a\x5cx2d"#), ("*?[", #"\x2a\x3f\x5b"#),
            ("a_b:c", "a_b:c"), ("line\nbreak", #"line\x0abreak"#), ("@", #"\x40"#),
        ])
    func escaping(_ text: String, _ expected: String) throws {
        #expect(TaskUnit.escaped(Array(text.utf8)) == expected)
        // A slash is not the sign between two parts, and bytes need not be UTF-8.
        #expect(TaskUnit.escaped(Array("a/b".utf8) + [0xFF, 0]) == #"a\x2fb\xff\x00"#)
        try require(.tool("systemd-escape"))
        #expect(try tool("systemd-escape", "--", text) == expected)
    }

    @Test("a name is that of the program, the identifier and the number")
    func name() throws {
        let unit = try #require(
            TaskUnit(program: program, identifier: "com.example.clean-up", number: 0xAB))
        #expect(
            unit.timer
                == #"bgtask-photo\x2dalbum-com.example.clean\x2dup-00000000000000ab.timer"#)
        #expect(TaskUnit(unit: unit.timer, program: program) == unit)
        #expect(TaskUnit(unit: unit.service, program: program) == unit)
        #expect(unit.isOf(program: program, identifier: "com.example.clean-up"))
        #expect(!unit.isOf(program: program, identifier: "com.example.clean"))
    }

    @Test("units of other programs, and other units, are not taken for one's own")
    func others() throws {
        let unit = try #require(TaskUnit(program: program, identifier: "a", number: 1))
        #expect(TaskUnit(unit: unit.timer, program: Array("photo".utf8)) == nil)
        for name in ["basic.target", "bgtask-photo-a.timer", "bgtask", "", ".timer"] {
            #expect(TaskUnit(unit: name, program: Array("photo".utf8)) == nil)
        }
    }

    @Test("two identifiers or programs never share a name")
    func collisions() throws {
        let pairs = [("a-b", "c"), ("a", "b-c"), ("a", "b/c"), ("a/b", "c"), (#"a\x2db"#, "c")]
        let names = pairs.map { TaskUnit(program: Array($0.utf8), identifier: $1, number: 0)?.name }
        #expect(Set(names).count == pairs.count)
        #expect(!names.contains(nil))
    }

    @Test("an identifier that is empty, or too long for a unit, has no name")
    func limits() {
        #expect(TaskUnit(program: program, identifier: "", number: 0) == nil)
        let overhead = #"bgtask-photo\x2dalbum--0123456789abcdef.service"#.utf8.count
        let longest = String(repeating: "a", count: 255 - overhead)
        #expect(TaskUnit(program: program, identifier: longest, number: 0) != nil)
        #expect(TaskUnit(program: program, identifier: longest + "a", number: 0) == nil)
    }
}
