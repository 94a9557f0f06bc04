import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Error codes", .cleansUp)
struct ErrorCodeTests {
    /// Where an operation meets what.
    enum Place: String, CaseIterable, Sendable {
        case missing = "none"
        case missingParent = "none/x"
        case existingFile = "g"
        case existingDirectory = "d"
        case belowFile = "g/x"
        case closed = "closed/f"
        case missingInClosed = "closed/none"
        case missingInReadOnly = "read-only/none"
        case readOnly = "read-only/f"
        case longName = "long"

        func path(in root: FilePath) -> String {
            let name = self == .longName ? String(repeating: "n", count: 300) : rawValue
            return "\(root)/\(name)"
        }
    }

    @Test("are Foundation's, wherever an operation fails", arguments: Operation.allCases)
    func sameAsFoundation(_ operation: Operation) throws {
        for place in Place.allCases where !departs(operation, place) {
            let theirs = try result(place, operation.runFoundation)
            let ours = try result(place, operation.run)
            #expect(ours == theirs, "\(place)")
        }
    }

    /// Where Foundation's answer is an accident: it changes the owner of what it copies or replaces,
    /// which an ordinary user may not, and its atomic write reports a directory that it cannot reach as
    /// missing.
    private func departs(_ operation: Operation, _ place: Place) -> Bool {
        switch (operation, place) {
        case (.copy, .existingDirectory), (.replaceWith, .existingFile),
            (.replaceWith, .existingDirectory):
            true
        case (.writeAtomically, .belowFile), (.writeAtomically, .closed),
            (.writeAtomically, .missingInClosed):
            true
        default: false
        }
    }

    @Test("are Foundation's for URLs of other schemes, without one, and without a path")
    func otherURLs() throws {
        // Foundation reports nothing for the first three, writes text to the path of any URL, and has
        // one code for all URLs of a replacement.
        let errorsOfOurOwn: Set<Operation> = [
            .values, .setValues, .rename, .writeText, .replaceWith,
        ]
        let onPaths: Set<Operation> = [.setAttributes, .attributes, .list]
        for text in ["https://example.org/none", "none", "/none", "file:", "file://"] {
            let url = try #require(URL(string: text))
            for operation in Operation.allCases
            where !onPaths.contains(operation) && !errorsOfOurOwn.contains(operation) {
                let codes = try [operation.run, operation.runFoundation].map { run in
                    let root = try temporaryDirectory { File("f") }
                    return try code { try run(url, root) }
                }
                #expect(codes[0] == codes[1], "\(operation) \(text)")
            }
            for operation in errorsOfOurOwn {
                #expect(throws: CocoaError.self) { try operation.run(url, in: "/nowhere") }
            }
        }
    }

    /// The code of an error in a new tree, as an ordinary user; nil without one.
    private func result(
        _ place: Place, _ body: (URL, FilePath) throws -> Void
    ) throws -> CocoaError.Code? {
        let root = try temporaryDirectory(isShared: true) {
            File("f", "f"); File("g", "g"); Directory("d") { File("in") }
            Directory("closed") { File("f") }.permissions(0)
            Directory("read-only") { File("f") }.permissions(0o555)
        }
        for path in [root, root.appending("d")] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: path.string)
        }
        return try asOrdinaryUser {
            try code { try body(URL(fileURLWithPath: place.path(in: root)), root) }
        }
    }
}
