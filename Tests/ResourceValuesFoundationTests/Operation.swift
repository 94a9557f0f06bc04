import ResourceValuesFoundation
import SystemPackage

/// What can be done with the item at a URL, by this package and by Foundation.
enum Operation: String, CaseIterable, Sendable {
    case copy, copyTo, move, moveTo, replaceWith, createDirectory, createDirectories, write,
        writeAtomically, writeNew, writeText, setAttributes, attributes, list, values, setValues,
        rename

    /// Does it with this package.
    ///
    /// - Parameter directory: a directory that contains a file `f` and no `new`.
    func run(_ url: URL, in directory: FilePath) throws {
        let manager = FileManager.default
        let file = URL(fileURLWithPath: directory.appending("f").string)
        let new = URL(fileURLWithPath: directory.appending("new").string)
        switch self {
        case .copy: try manager.copyItemKeepingMarks(at: url, to: new)
        case .copyTo: try manager.copyItemKeepingMarks(at: file, to: url)
        case .move: try manager.moveItemKeepingMarks(at: url, to: new)
        case .moveTo: try manager.moveItemKeepingMarks(at: file, to: url)
        case .replaceWith: try manager.replaceItemKeepingMarks(at: file, withItemAt: url)
        case .createDirectory, .createDirectories:
            try manager.createMarkedDirectory(
                at: url, withIntermediateDirectories: self == .createDirectories, attributes: nil)
        case .write: try Data("x".utf8).writeKeepingMarks(to: url)
        case .writeAtomically: try Data("x".utf8).writeKeepingMarks(to: url, options: .atomic)
        case .writeNew: try Data("x".utf8).writeKeepingMarks(to: url, options: .withoutOverwriting)
        case .writeText: try "x".writeKeepingMarks(to: url, atomically: false, encoding: .utf8)
        case .setAttributes:
            try manager.setAllAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        case .attributes: _ = try manager.allAttributesOfItem(atPath: url.path)
        case .list: _ = try manager.contentsOfDirectory(at: url, includingPropertiesForKeys: [])
        case .values: _ = try url.resourceValues(forKeys: [.fileSizeKey])
        case .setValues:
            var values = URLResourceValues()
            values.contentModificationDate = Date(timeIntervalSince1970: 0)
            try url.setResourceValues(values)
        case .rename:
            var values = URLResourceValues()
            values.name = "renamed"
            try url.setResourceValues(values)
        }
    }
}
