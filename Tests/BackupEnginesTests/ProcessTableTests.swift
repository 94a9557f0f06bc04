import Glibc
import SystemPackage
import Testing

@testable import BackupEngines

@Suite("Processes that have ended for certain")
struct ProcessTableTests {
    @Test("a running process has not ended, and a number beyond all has none")
    func running() {
        #expect(!ProcessTable().hasNone(numbered: getpid()))
        #expect(!ProcessTable().hasNone(numbered: 1))
        #expect(ProcessTable().hasNone(numbered: Int32.max))
    }

    @Test("where processes cannot be seen nothing is certain")
    func unknown() {
        #expect(!ProcessTable(directory: "/nowhere").hasNone(numbered: Int32.max))
    }
}
