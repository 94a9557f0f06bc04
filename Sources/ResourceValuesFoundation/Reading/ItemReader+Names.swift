#if !canImport(Darwin)
import EffectiveValues
import Foundation
import SystemCalls
import SystemPackage

extension ItemReader {
    /// Returns the value of a key that the item's path determines; nil for other keys.
    mutating func nameValue(_ key: KnownKey) throws(FileError) -> PropertyValue? {
        let path = try path()
        switch key {
        case .path: return path.text.map { .text($0) }
        case .canonicalPath:
            return try realPath(of: path, followsLast: false).text.map { .text($0) }
        default: break
        }
        // The last component of a path such as `a/..` is not the item's name.
        let isNamed = path.lastComponent?.kind == .regular
        let named = isNamed || path == "/" ? path : try realPath(of: path, followsLast: false)
        switch key {
        case .name, .localizedName: return lastName(named).text.map { .text($0) }
        case .parentDirectoryURL: return parent(of: named).map { .object($0) }
        case .isHidden: return .boolean(lastName(named).bytes.first == UInt8(ascii: "."))
        case .isPackage: return .boolean(try isPackage(named))
        default: return nil
        }
    }

    private func path() throws(FileError) -> FilePath {
        do {
            return try url.filePath()
        } catch {
            // The URL led to the item before, and cannot change.
            throw FileError(code: .other, message: "the URL has no path")
        }
    }

    private func parent(of path: FilePath) -> URL? {
        guard path != "/" else { return nil }
        return URL(bytesOf: path.removingLastComponent(), isDirectory: true)
    }

    private mutating func isPackage(_ path: FilePath) throws(FileError) -> Bool {
        guard let suffix = path.extension?.lowercased(), packageExtensions.contains(suffix)
        else { return false }
        return try status().kind == .directory
    }
}

/// Returns the last component, or `/`.
private func lastName(_ path: FilePath) -> FilePath {
    path.lastComponent.map { FilePath(root: nil, components: $0) } ?? path
}

/// The extensions of directories that Apple's systems treat as packages.
let packageExtensions: Set<String> = [
    "app", "appex", "bundle", "component", "kext", "mdimporter", "mpkg", "pkg", "plugin",
    "prefpane", "qlgenerator", "rtfd", "saver", "xpc",
]
#endif
