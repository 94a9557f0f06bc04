import ResourceValuesDropIn
import TestSupport
import Testing

/// A call with an empty path, by the drop-in and by Foundation.
enum EmptyPathCall: CaseIterable, Sendable {
    case copy, copyTo, move, moveTo, createDirectory, createDirectories, setAttributes, attributes,
        write, writeAtomically

    /// Makes the drop-in's call.
    func run(file: String, new: String) throws {
        let manager = FileManager.default
        switch self {
        case .copy: try manager.copyItem(atPath: "", toPath: new)
        case .copyTo: try manager.copyItem(atPath: file, toPath: "")
        case .move: try manager.moveItem(atPath: "", toPath: new)
        case .moveTo: try manager.moveItem(atPath: file, toPath: "")
        case .createDirectory, .createDirectories:
            try manager.createDirectory(
                atPath: "", withIntermediateDirectories: self == .createDirectories)
        case .setAttributes: try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "")
        case .attributes: _ = try manager.attributesOfItem(atPath: "")
        case .write, .writeAtomically:
            try "x".write(toFile: "", atomically: self == .writeAtomically, encoding: .utf8)
        }
    }
}

@Suite("Empty paths")
struct EmptyPathTests {
    @Test(
        "lead to no item, as in Foundation, and nothing is touched",
        arguments: EmptyPathCall.allCases)
    func refused(_ call: EmptyPathCall) throws {
        try withTemporaryDirectory(containing: Tree { File("f", "x") }) { root in
            let (file, new) = ("\(root)/f", "\(root)/new")
            let ours = cocoaCode { try call.run(file: file, new: new) }
            try #expect(entryCount(root) == 1)
            if call == .move || call == .moveTo {
                // Foundation moves the working directory, and says that an item exists at no path.
                #expect(ours == .fileNoSuchFile)
            } else {
                #expect(ours == cocoaCode { try call.runFoundation(file: file, new: new) })
                #expect(ours != nil)
            }
        }
    }

    @Test("are refused with a protection class too")
    func withClass() {
        let attributes = [FileAttributeKey.protectionKey: FileProtectionType.complete]
        let manager = FileManager.default
        #expect(
            cocoaCode {
                try manager.createDirectory(
                    atPath: "", withIntermediateDirectories: true, attributes: attributes)
            } == .fileNoSuchFile)
        #expect(
            cocoaCode { try manager.setAttributes(attributes, ofItemAtPath: "") } == .fileNoSuchFile
        )
        #expect(!manager.createFile(atPath: "", contents: nil))
        #expect(!manager.createFile(atPath: "", contents: nil, attributes: attributes))
    }
}
