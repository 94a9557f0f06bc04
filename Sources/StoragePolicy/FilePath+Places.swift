import SystemCalls
import SystemPackage

extension FilePath {
    /// Whether the path is absolute and not `/`, which service accounts have for a home.
    var isUsableHome: Bool { isAbsolute && !isFilesystemRoot }

    var isFilesystemRoot: Bool { isAbsolute && components.isEmpty }

    /// Whether the path lies below another, and is not that one.
    func isStrictlyBelow(_ other: FilePath) -> Bool { self != other && isHeld(by: other) }
}
