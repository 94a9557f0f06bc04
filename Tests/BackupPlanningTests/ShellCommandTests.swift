import BackupPlanning
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A printed command")
struct ShellCommandTests {
    @Test("gives bash each path as one word of the same bytes", arguments: HostileNames.all)
    func words(name: FileName) throws {
        let path = FilePath(bytes: Array("/directory/".utf8) + name.bytes)
        var command = ShellCommand("printf '%s\\0'")
        command.add("--list=", path: path)
        command.add(path: path)
        let result = try Command("/bin/bash", "-c", command.bytes).run()
        #expect(result.records == [Array("--list=".utf8) + path.bytes, path.bytes])
        #expect(command.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    }

    @Test("quotes for every shell what needs no escapes")
    func plain() throws {
        var command = ShellCommand("x")
        command.add(path: "/home/ada/it's café*")
        #expect(String(decoding: command.bytes, as: UTF8.self) == #"x '/home/ada/it'\''s café*'"#)
    }
}
