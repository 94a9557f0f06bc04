import CTestSupport
import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

typealias Key = ResourceValuesFoundation.URLResourceKey

extension FilePath {
    /// A URL that leads to the file, every byte escaped.
    var url: URL {
        let escaped = bytes.map { byte in
            byte == UInt8(ascii: "/") ? "/" : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        // A URL of escapes alone is always valid.
        return URL(string: "file://" + escaped.joined()) ?? URL(fileURLWithPath: "/nowhere")
    }

    /// The value of one key.
    func value(_ key: Key) throws -> Any? {
        try url.resourceValues(forKeys: [key]).allValues[key]
    }
}

/// The error's code; nil when nothing was thrown.
func code(_ body: () throws -> Void) throws -> CocoaError.Code? {
    do {
        try body()
        return nil
    } catch let error as CocoaError {
        return error.code
    }
}

/// Expects `body` to throw the Cocoa error with this code.
func expectError(
    _ expected: CocoaError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) throws {
    try #expect(code(body) == expected, sourceLocation: sourceLocation)
}

/// Calls `body` with an ordinary user's access to files.
func asOrdinaryUser<Result>(_ body: () throws -> Result) throws -> Result {
    try require(.root)
    #expect(test_set_file_user(54321) == 0)
    defer { #expect(test_set_file_user(0) == 0) }
    return try body()
}

/// Calls `body` with a working directory that only this thread has.
func inWorkingDirectory<Result>(_ path: FilePath, _ body: () throws -> Result) throws -> Result {
    try separateWorkingDirectory()
    let (old, new) = (try OpenDirectory(at: "."), try OpenDirectory(at: path))
    try changeWorkingDirectory(to: new.descriptor)
    let result = Swift.Result { try body() }
    try changeWorkingDirectory(to: old.descriptor)
    return try result.get()
}

extension FileName {
    /// The name as text; nil when it is not UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }
}
