import SystemCalls
import SystemPackage

extension FilePath {
    /// Whether the path is absolute and not `/`, which is the home of some service accounts.
    var isUsableHome: Bool { isAbsolute && !isFilesystemRoot }

    var isFilesystemRoot: Bool { isAbsolute && components.isEmpty }

    /// Whether the path is below another, and not equal to it.
    func isStrictlyBelow(_ other: FilePath) -> Bool { self != other && isHeld(by: other) }
}
