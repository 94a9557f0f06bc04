import EffectiveValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

/// Makes a home with a unit put aside and a journal that says so.
func unitPutAside(
    _ state: AsideRecord.State, knowsInodes: Bool = true
) throws -> (PurgeFixture, AsideRecord, aside: FilePath) {
    let tree = cache("unit") {
        File("file", block)
        Directory("deep") { File("file", block) }
    }
    let documents = Directory("Documents") { File("old", block) }
    let home = try purgeHome {
        documents
        tree
    }
    let unit = home(".cache/app/unit")
    let inodes = try ["", "deep"].map { try unit.appending($0).status().identity.inode }
    let filesystems = MountedFilesystems()
    let record = AsideRecord(
        state: state, identity: filesystems.identity(of: try unit.status()),
        parent: filesystems.identity(of: try home(".cache/app").status()),
        parentPath: home(".cache/app").bytes, name: Array("unit".utf8),
        asideName: AsideName.make(),
        newestChange: try unit.appending("deep/file").status().attributeModificationTime,
        knownInodes: state == .deleting && knowsInodes ? Set(inodes) : nil)
    try PurgeJournal(in: home.state).store([record])
    let aside = FilePath(bytes: record.asidePath)
    try tool("mv", unit, aside)
    return (home, record, aside)
}

extension AsideRecord {
    /// The record of a directory that does not exist.
    init(
        _ state: State = .aside, parentPath: [UInt8] = Array("/a".utf8), name: [UInt8] = [65],
        asideName: [UInt8] = AsideName.make()
    ) {
        self.init(
            state: state, identity: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
            parent: PersistentIdentity(FileIdentity(device: 1, inode: 3)), parentPath: parentPath,
            name: name, asideName: asideName, newestChange: .later)
    }
}

/// Finishes what was left, and expects this to become of it.
func expectFinish(
    _ home: PurgeFixture, _ expected: [FilePath: LeftoverState],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    var report = PurgeReport()
    try home.executor().finishLeftovers { report.add($0) }
    #expect(report.leftovers == expected, sourceLocation: sourceLocation)
    let records = try PurgeJournal(in: home.state).records
    if expected.isEmpty { #expect(records == [], sourceLocation: sourceLocation) }
}
