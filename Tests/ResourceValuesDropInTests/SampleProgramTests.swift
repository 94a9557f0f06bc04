import SystemPackage
import TestSupport
import Testing

@Suite("A program written for iOS")
struct SampleProgramTests {
    @Test("a program that imports only the drop-in does what it would do on iOS")
    func runs() throws {
        try withTemporaryDirectory { root in
            let output = try Command(.built("foundation-tool"), "download-store", root)
                .runSuccessfully()
            #expect(
                output.split(separator: "\n") == [
                    "excluded: true",
                    "protection: NSURLFileProtectionCompleteUnlessOpen",
                    "episode.mp3: complete",
                    "copy.mp3: complete",
                    "size: true",
                    "removed: 4.png 3.png",
                ])
            let marks = try tool(
                "getfattr", "--only-values", "-n", "user.resval.isPurgeable",
                root.appending("Thumbnails/1.png"))
            #expect(marks == "true")
        }
    }
}
