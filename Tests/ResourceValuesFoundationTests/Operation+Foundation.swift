import Foundation
import SystemPackage

extension Operation {
    /// Does it with Foundation; what its URLs say differently than its paths, with paths.
    func runFoundation(_ url: URL, in directory: FilePath) throws {
        let manager = FileManager.default
        let file = URL(fileURLWithPath: directory.appending("f").string)
        let new = URL(fileURLWithPath: directory.appending("new").string)
        switch self {
        case .copy: try manager.copyItem(at: url, to: new)
        case .copyTo: try manager.copyItem(at: file, to: url)
        case .move: try manager.moveItem(at: url, to: new)
        case .moveTo: try manager.moveItem(at: file, to: url)
        case .replaceWith: _ = try manager.replaceItemAt(file, withItemAt: url)
        case .createDirectory, .createDirectories:
            try manager.createDirectory(
                at: url, withIntermediateDirectories: self == .createDirectories)
        case .write: try Data("x".utf8).write(to: url)
        case .writeAtomically: try Data("x".utf8).write(to: url, options: .atomic)
        case .writeNew: try Data("x".utf8).write(to: url, options: .withoutOverwriting)
        case .writeText: try "x".write(to: url, atomically: false, encoding: .utf8)
        case .setAttributes:
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        case .attributes: _ = try manager.attributesOfItem(atPath: url.path)
        case .list: _ = try manager.contentsOfDirectory(atPath: url.path)
        case .values: _ = try url.resourceValues(forKeys: [.fileSizeKey])
        case .setValues:
            var values = URLResourceValues()
            values.contentModificationDate = Date(timeIntervalSince1970: 0)
            var url = url
            try url.setResourceValues(values)
        case .rename:
            var values = URLResourceValues()
            values.name = "renamed"
            var url = url
            try url.setResourceValues(values)
        }
    }
}
