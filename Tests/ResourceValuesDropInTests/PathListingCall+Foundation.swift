import Foundation

extension PathListingCall {
    /// Makes Foundation's call.
    func runFoundation(_ path: String) throws -> [String]? {
        let manager = FileManager.default
        return switch self {
        case .contents: try manager.contentsOfDirectory(atPath: path)
        case .subpathsOfDirectory: try manager.subpathsOfDirectory(atPath: path)
        case .subpaths: manager.subpaths(atPath: path)
        case .enumerator: manager.enumerator(atPath: path)?.compactMap { $0 as? String }
        }
    }
}
