import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

/// The command `evict-tool`, with a copy of the content in the place of the repository.
func command(
    _ work: String, _ fixture: EvictionFixture, dyingAt call: Int? = nil
) -> Command {
    Command(
        .built("evict-tool"), fixture.journal.directory, work, fixture.file,
        fixture.root.appending("held"), call.map(String.init) ?? "0")
}

func withHeldFile(
    permissions: UInt16 = 0o640, _ body: (EvictionFixture) throws -> Void
) throws {
    try withFile(permissions: permissions) { fixture in
        try tool("cp", fixture.file, fixture.root.appending("held"))
        try body(fixture)
    }
}

/// Whether the file is whole, or a backup leaves it out and a download brings it back.
func checkAndRepair(_ fixture: EvictionFixture, _ moment: Comment) throws {
    let status = try fixture.file.status()
    let isWhole = try contentsOfFile(fixture.file) == fixture.content
    if !isWhole {
        let index = try EvictedIndex([fixture.journal])
        let record = index.placeholder(fixture.file, status, at: fixture.file)
        #expect(record != nil, moment)
    }
    #expect(status.size == fixture.content.count, moment)
    for record in try fixture.journal.contents().files {
        let recovery = try fixture.journal.recover(record)
        #expect([.settled, .whole, .placeholder, .partial].contains(recovery), moment)
    }
    if try !fixture.journal.contents().files.isEmpty {
        try fixture.download()
    }
    try fixture.expectWhole()
}
