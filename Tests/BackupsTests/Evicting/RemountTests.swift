import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Evicted files of a filesystem that is mounted anew")
struct RemountTests {
    @Test("are recognised under another device number and another name, and brought back")
    func remounted() throws {
        try withRemountedFilesystem(.ext4) { filesystem in
            try withFile(in: filesystem.root) { fixture in
                try fixture.evict()
                try tool("mv", fixture.file, filesystem.root.appending("moved"))
                try filesystem.remount()
                let moved = filesystem.root.appending("moved")
                try fixture.expectPlaceholder(moved)
                try fixture.download(moved)
                try tool("mv", moved, fixture.file)
                try fixture.expectWhole()
            }
        }
    }
}
