import SystemPackage
import TestSupport
import Testing

/// Each way of importing, compiled as a file of its own.
@Suite("Import mixes", .cleansUp)
struct ImportMixTests {
    @Test(
        "clean mixes compile without a warning",
        arguments: [
            "import ResourceValuesDropIn",
            "import ResourceValuesDropIn\nimport Dispatch\nimport FoundationNetworking",
            "import ResourceValuesDropIn\nimport Testing",
            "import StorageServicesDropIn",
            "import ResourceValuesDropIn\nimport StorageServicesDropIn\nimport Testing",
            "import ResourceValuesFoundation",
            "import ResourceValuesFoundation\nimport FoundationNetworking\nimport Testing",
        ], LanguageMode.allCases)
    func cleanMixes(_ imports: String, _ mode: LanguageMode) throws {
        let result = try typecheck("\(imports)\n\(use)", mode)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errorText.isEmpty)
    }

    @Test(
        "beside Foundation or XCTest, two aliases make the overlay's types plain",
        arguments: [
            "import Foundation", "import FoundationEssentials", "import XCTest",
        ], LanguageMode.allCases)
    func aliases(_ other: String, _ mode: LanguageMode) throws {
        let imports = "import ResourceValuesFoundation\n\(other)\n"
        let aliases = """
            typealias URLResourceKey = ResourceValuesFoundation.URLResourceKey
            typealias URLResourceValues = ResourceValuesFoundation.URLResourceValues

            """
        let without = try typecheck(imports + use, mode)
        #expect(without.exitCode != 0)
        #expect(without.errorText.contains("ambiguous"))
        try typecheck(imports + aliases + use, mode).expect(exits: 0)
    }

    @Test("operations of the drop-in are taken in place of Foundation's", arguments: modules)
    func shadowing(_ imports: String) throws {
        try typecheck("\(imports)\n\(shadowed)", .six).expect(exits: 0)
    }

    @Test("beside Foundation the operations of the drop-in are ambiguous, never silently lost")
    func shadowingBesideFoundation() throws {
        let result = try typecheck(
            "import ResourceValuesDropIn\nimport Foundation\n\(shadowed)", .six)
        #expect(result.exitCode != 0)
        #expect(result.errorText.contains("ambiguous"))
    }

    private func typecheck(_ source: String, _ mode: LanguageMode) throws -> CommandResult {
        let root = try temporaryDirectory { File("main.swift", source) }
        return try typecheckFile(root.appending("main.swift"), mode)
    }
}

private let modules = [
    "import ResourceValuesDropIn", "import ResourceValuesDropIn\nimport Testing",
    "import StorageServicesDropIn",
]

/// A mode that code may be compiled in.
enum LanguageMode: String, CaseIterable, Sendable {
    case five = "5"
    case six = "6"
}

/// What most code does with resource values.
private let use = """
    func mark(_ url: URL) throws -> Bool? {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        values.isPurgeable = true
        var url = url
        try url.setResourceValues(values)
        let keys: Set<URLResourceKey> = [.isPurgeableKey]
        _ = try url.resourceValues(forKeys: keys).isPurgeable
        _ = try FileManager.default.contentsOfDirectory(
            at: url, includingPropertiesForKeys: [.isPurgeableKey])
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.complete], ofItemAtPath: url.path)
        try FileManager.default.setAttributes(
            [.creationDate: Date(), .modificationDate: Date()], ofItemAtPath: url.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        return try url.resourceValues(forKeys: [.isPurgeableKey]).isPurgeable
    }
    """

/// Calls with Foundation's own signatures.
private let shadowed = """
    func store(_ data: Data, at url: URL, _ other: URL) throws {
        try data.write(to: url, options: .completeFileProtection)
        try data.write(to: url)
        try "text".write(to: url, atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(at: url, to: other)
        _ = try FileManager.default.replaceItemAt(url, withItemAt: other)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: url.path)
        _ = try FileManager.default.attributesOfItem(atPath: url.path)[.protectionKey]
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try (url as NSURL).setResourceValue(true, forKey: .isExcludedFromBackupKey)
        try (url as NSURL).setResourceValue(true, forKey: .isPurgeableKey)
        try (url as NSURL).setResourceValues([.isExcludedFromBackupKey: true, .nameKey: "name"])
        var value: AnyObject?
        try (url as NSURL).getResourceValue(&value, forKey: .isExcludedFromBackupKey)
        _ = try (url as NSURL).resourceValues(forKeys: [.isExcludedFromBackupKey])
        try (data as NSData).write(to: url, options: .completeFileProtection)
    }
    """

/// Type-checks one file against this package's built modules, as a package that uses them would be.
private func typecheckFile(_ file: FilePath, _ mode: LanguageMode) throws -> CommandResult {
    try require(.tool("swiftc"))
    let compiler = try #require(FilePath.tool("swiftc"))
    let modules = FilePath.built("Modules")
    let systemHeaders = FilePath.built("../../checkouts/swift-system/Sources/CSystem/include")
    return try Command(
        compiler, "-typecheck", "-swift-version", mode.rawValue, "-warnings-as-errors",
        "-enable-upcoming-feature", "MemberImportVisibility", "-parse-as-library",
        "-module-cache-path", FilePath.built("ModuleCache"), "-I", modules,
        "-Xcc", "-I\(packageRoot)/Sources/CLinux", "-Xcc", "-I\(systemHeaders)", file
    ).run()
}
