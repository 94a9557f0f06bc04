import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// The command `test-tool evict`, with a copy of the content in the place of the repository.
func command(
    _ work: String, _ fixture: EvictionFixture, dyingAt call: Int? = nil
) -> Command {
    Command(
        .built("test-tool"), "evict", fixture.state.path, work, fixture.file,
        fixture.root.appending("held"), call.map(String.init) ?? "0", String(fixture.permissions))
}

func withHeldFile(
    in directory: FilePath? = nil, permissions: UInt16 = 0o640,
    _ body: (EvictionFixture) throws -> Void
) throws {
    try withFile(in: directory, permissions: permissions) { fixture in
        try tool("cp", "-p", fixture.file, fixture.root.appending("held"))
        try body(fixture)
    }
}

/// Whether the file is whole, or a backup leaves it out and a download brings it back.
func checkAndRepair(_ fixture: EvictionFixture, _ moment: Comment) throws {
    let status = try fixture.file.status()
    let isWhole = try contentsOfFile(fixture.file) == fixture.content
    if !isWhole {
        let sign = try EvictionSign(of: fixture.file.withoutFollowing, status)
        #expect(sign?.isEvicted == true, moment)
        #expect(sign?.record == fixture.record, moment)
    }
    #expect(status.size == fixture.content.count, moment)
    let recovery = try fixture.state.recover(at: fixture.file)
    #expect([.settled, .whole, .placeholder, .partial].contains(recovery), moment)
    try fixture.download()
    try fixture.expectWhole()
}
