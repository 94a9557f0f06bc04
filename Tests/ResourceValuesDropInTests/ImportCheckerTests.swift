import SystemPackage
import TestSupport
import Testing

@Suite("The checker of imports", .cleansUp)
struct ImportCheckerTests {
    @Test(
        "a use that Foundation ignores is found",
        arguments: [
            "try url.setResourceValues(values)", "values.isExcludedFromBackup = true",
            "try data.write(to: url, options: [.atomic, .completeFileProtection])",
            "try manager.setAttributes([.protectionKey: type], ofItemAtPath: path)",
        ])
    func finds(_ use: String) throws {
        // Foundation comes from modules that export it as well, and from other files of the module.
        for imports in ["import Foundation", "import XCTest", "@testable import Photos", ""] {
            let result = try check("\(imports)\n\n\(use)\n")
            #expect(result.exitCode == 1, "\(imports)")
            #expect(result.text.contains(#"a b\n.swift':3:"#))
        }
    }

    @Test(
        "a call that is Foundation's in files that import the overlay is found",
        arguments: [
            "try (url as NSURL).setResourceValue(true, forKey: .isExcludedFromBackupKey)",
            "try nsURL.getResourceValue(&value, forKey: key)",
            "try (url as NSURL).setResourceValues(values)",
            "try (url as NSURL?)?.resourceValues(forKeys: keys)",
            "try data.write(to: url, options: [.atomic, .completeFileProtection])",
            "let attributes: [FileAttributeKey: Any] = [.creationDate: now, .posixPermissions: 0o600]",
        ])
    func findsInOverlay(_ use: String) throws {
        try check("import ResourceValuesFoundation\n\n\(use)\n").expect(
            exits: 1, prints: #"a b\n.swift':3:"#)
        try check("import ResourceValuesDropIn\n\n\(use)\n").expect(exits: 0)
    }

    @Test(
        "files that say what they mean are passed over",
        arguments: [
            "import ResourceValuesDropIn\ntry url.setResourceValues(values)\n",
            "import Foundation\nimport StorageServicesDropIn\ntry url.setResourceValues(v)\n",
            "import ResourceValuesDropIn\nimport StorageServicesDropIn\n",
            "import Foundation\nimport ResourceValuesFoundation\ntry url.setResourceValues(v)\n",
            "import ResourceValuesFoundation\ntry data.writeKeepingMarks(to: url, options: "
                + ".completeFileProtection)\nvalues.creationDate = date\n",
            "import Foundation\n// values.isExcludedFromBackup = true\n",
            "import Foundation\nif values.isExcludedFromBackup == true {}\n",
            "import ResourceValues\nmarks.isPurgeable = true\n",
            "import Foundation; import ResourceValuesDropIn\ntry url.setResourceValues(v)\n",
        ])
    func passes(_ content: String) throws {
        let result = try check(content)
        #expect(result.exitCode == 0)
        #expect(result.text.isEmpty)
    }

    @Test(
        "a file that imports both modules is found",
        arguments: ["ResourceValuesDropIn", "StorageServicesDropIn"])
    func bothModules(_ dropIn: String) throws {
        try check("import \(dropIn)\nimport ResourceValuesFoundation\n").expect(
            exits: 1, prints: "both")
    }

    @Test("a path that cannot be read is an error")
    func missingPath() throws {
        try Command(.checker, "/nowhere/at/all").run(exits: 64)
    }

    private func check(_ content: String) throws -> CommandResult {
        let root = try temporaryDirectory { File("a b\n.swift", content) }
        return try Command(.checker, root).run()
    }
}

extension FilePath {
    fileprivate static let checker = packageRoot.appending("scripts/check-foundation-imports")
}
