import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import Testing

extension FilePath {
    /// The file's URL.
    var url: URL { URL(fileURLWithPath: string) }
}

var manager: FileManager { .default }

/// Attributes with a protection class.
let complete = [FileAttributeKey.protectionKey: FileProtectionType.complete]

func setAttributes(_ attributes: [FileAttributeKey: Any], of path: String) throws {
    try manager.setAttributes(attributes, ofItemAtPath: path)
}

func createDirectory(
    _ path: String, _ createsIntermediates: Bool, _ attributes: [FileAttributeKey: Any]?
) throws {
    try manager.createDirectory(
        atPath: path, withIntermediateDirectories: createsIntermediates, attributes: attributes)
}

/// The code of the Cocoa error that `body` throws; nil when it throws none.
func cocoaCode(_ body: () throws -> Void) -> CocoaError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CocoaError)?.code
    }
}

/// How many entries a directory has, hidden ones among them.
func entryCount(_ directory: FilePath) throws -> Int {
    var count = 0
    try forEachName(in: directory) { name in
        // What mkfs makes.
        if name != Array("lost+found".utf8) { count += 1 }
        return true
    }
    return count
}

/// Expects `body` to throw the Cocoa error with this code.
func expectError(
    _ code: CocoaError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    #expect(cocoaCode(body) == code, sourceLocation: sourceLocation)
}
