import Foundation

extension EmptyPathCall {
    /// Makes Foundation's call; none for moving, which moves the working directory.
    func runFoundation(file: String, new: String) throws {
        let manager = FileManager.default
        switch self {
        case .copy: try manager.copyItem(atPath: "", toPath: new)
        case .copyTo: try manager.copyItem(atPath: file, toPath: "")
        case .move, .moveTo: return
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
