import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Descriptions of errors", .cleansUp)
struct DescriptionTests {
    @Test(
        "name the file as it is safe to show, say what is wrong and what to do",
        arguments: Operation.allCases)
    func everyOperation(_ operation: Operation) throws {
        let names: KeyValuePairs<FileName, String> = [
            "plain name": "plain name", "red\u{1B}[31m": #"red\033[31m"#, "a\nb": #"a\nb"#,
            "\u{202E}gpj": #"\342\200\256gpj"#,
        ]
        for (name, shown) in names {
            let root = try temporaryDirectory { File("f") }
            let file = root.appending("f").appending(name)
            let error = try #require(throws: CocoaError.self) {
                try operation.run(URL(fileURLWithPath: file.string), in: root)
            }
            let isPlain = shown == "plain name"
            let path = isPlain ? "\(root)/f/\(shown)" : "$'\(root)/f/\(shown)'"
            let description = error.localizedDescription
            #expect(description.hasPrefix(path + ": "), "\(description)")
            let advice = try #require((error as NSError).localizedRecoverySuggestion)
            #expect(description.hasSuffix(": " + advice))
            #expect(try #require((error as NSError).localizedFailureReason).count > 5)
            // What print(error) shows.
            #expect("\(error)".contains(isPlain ? "plain%20name" : "/f/"))
            for text in ["\(error)", description] {
                let isSafe = text.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && $0.value != 0x7F && $0 != "\u{202E}"
                }
                #expect(isSafe, "\(Array(text.utf8))")
            }
        }
    }

    @Test("name URLs that lead to no file, and names that are not UTF-8")
    func withoutPath() throws {
        let url = try #require(URL(string: "https://example.org/f"))
        let error = try #require(throws: CocoaError.self) {
            try url.resourceValues(forKeys: [.fileSizeKey])
        }
        #expect(error.localizedDescription.hasPrefix("https://example.org/f: "))
        let missing = FilePath("/none").appending(FileName([0xE9]))
        let named = try #require(throws: CocoaError.self) {
            try missing.url.resourceValues(forKeys: [.fileSizeKey])
        }
        #expect(named.localizedDescription.hasPrefix(#"$'/none/\351': no such file"#))
        #expect(named.filePath == nil)
        #expect(named.url == missing.url)
        let empty = try #require(throws: CocoaError.self) { _ = try URL(atPath: "") }
        #expect(empty.localizedDescription == "'': the path is empty: name a file")
    }

    @Test("errors of Foundation's own calls are named too")
    func passedOn() throws {
        let root = try temporaryDirectory { Directory("d") }
        // Written in place, by Foundation.
        let error = try #require(throws: CocoaError.self) {
            try Data("x".utf8).writeKeepingMarks(to: root.appending("d").url)
        }
        #expect(error.code == .fileWriteUnknown)
        #expect(error.localizedDescription.hasPrefix("\(root)/d: Is a directory: "))
    }
}
