import CallFormsSwift5
import CallFormsSwift6
import TestSupport
import Testing

@Suite("Code written for Apple's platforms", .cleansUp)
struct CallFormTests {
    @Test("runs when compiled in Swift 5 mode")
    func swift5() throws {
        let root = try temporaryDirectory { File("f", "12345") }
        try #expect(CallFormsSwift5.failuresOfCallForms(in: root.url) == [])
    }

    @Test("runs when compiled in Swift 6 mode")
    func swift6() throws {
        let root = try temporaryDirectory { File("f", "12345") }
        try #expect(CallFormsSwift6.failuresOfCallForms(in: root.url) == [])
    }
}
