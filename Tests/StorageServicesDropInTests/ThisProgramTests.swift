import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StorageServicesDropIn

@Suite("The program by which timers and metrics are named", .cleansUp)
struct ThisProgramTests {
    @Test("programs with the same name in several directories do not share a name")
    func names() throws {
        let paths: [FilePath] = [
            "/opt/a/album", "/opt/b/album",
            FilePath(bytes: Array("/opt/".utf8) + [0xFF] + "/album".utf8),
            FilePath(bytes: Array("/opt/".utf8) + [0xFE] + "/album".utf8),
        ]
        let names = paths.map(ThisProgram.name)
        let ofBytes = ThisProgram.name(of: FilePath(bytes: Array("/opt/al".utf8) + [0xFF]))
        #expect(ofBytes.starts(with: Array("al".utf8) + [0xFF, 0x2E]))
        #expect(Set(names).count == paths.count)
        #expect(String(decoding: names[0], as: UTF8.self) == "album.7101411d7a844dfb")
        let units = names.map { TaskUnit(program: $0, identifier: "a", number: 1) }
        for (name, unit) in zip(names, units) {
            let unit = try #require(unit)
            #expect(names.filter { TaskUnit(unit: unit.timer, program: $0) != nil } == [name])
        }
    }

    @Test(
        "a program keeps its path when its file is replaced",
        arguments: [
            ("/opt/album (deleted)", false, "/opt/album"),
            ("/opt/album (deleted)", true, "/opt/album (deleted)"),
            ("/opt/album (deleted) (deleted)", false, "/opt/album (deleted)"),
            ("/opt/album", true, "/opt/album"), ("/opt/album", false, "/opt/album"),
        ])
    func replaced(_ target: String, _ isThere: Bool, _ expected: String) {
        #expect(ThisProgram.path(of: FilePath(target), isThere: isThere) == FilePath(expected))
    }

    @Test("programs with the same name have metrics of their own, also when the file is replaced")
    func metrics() throws {
        let root = try temporaryDirectory {
            Directory("a")
            Directory("b")
            Directory("data")
        }
        func output(_ script: String, _ directory: String) throws -> String {
            let program = root.appending("\(directory)/services-tool")
            try tool("cp", FilePath.built("services-tool"), program)
            return try Command(
                "/bin/sh", "-c", script, program, "samples", root.appending("data"),
                environment: [
                    "HOME": root.string, "XDG_STATE_HOME": root.appending("state").string,
                ]
            ).runSuccessfully()
        }
        let first = "received: 1 files of data"
        let outputs = try ["a", "b"].map { try output(#"exec "$0" "$@""#, $0) }
        #expect(outputs.allSatisfy { $0.contains(first) })
        // The payload of the day is there already.
        let removed = #"exec 3< "$0"; rm "$0"; exec /proc/self/fd/3 "$@""#
        let again = try output(removed, "a")
        #expect(!again.contains(first))
    }
}
