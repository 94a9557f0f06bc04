#if !canImport(Darwin)
import SystemCalls
import SystemPackage

/// The file that this process was started from.
enum ThisProgram {
    /// The path that the file had when it was first asked for, also after an upgrade has replaced the
    /// file: `/proc/self/exe`; nil if that cannot be read.
    static let file: FilePath? = {
        let link: FilePath = "/proc/self/exe"
        guard let target = try? symbolicLinkTarget(link.withoutFollowing) else { return nil }
        let isThere = (try? target.fileStatus())?.identity
        let isRunning = (try? link.fileStatus())?.identity
        return path(of: target, isThere: isThere != nil && isThere == isRunning)
    }()

    /// Returns the path of a program's file.
    ///
    /// - Parameters:
    ///   - target: the target of `/proc/self/exe`, to which the kernel adds a word when the file was
    ///     removed or replaced. The name of a file may end in the same word.
    ///   - isThere: whether the target leads to the file.
    static func path(of target: FilePath, isThere: Bool) -> FilePath {
        let bytes = target.bytes
        let suffix = Array(" (deleted)".utf8)
        guard !isThere, bytes.suffix(suffix.count).elementsEqual(suffix) else { return target }
        return FilePath(bytes: bytes.dropLast(suffix.count))
    }

    /// The name by which timers and metrics belong to the program; empty if its file is not known.
    static let name = file.map { name(of: $0) } ?? []

    /// Returns the name of the program in a file: the file's name, a dot, and ``shortName(for:)`` of the
    /// path, since programs in several directories may have the same name.
    static func name(of file: FilePath) -> [UInt8] {
        (file.lastComponent?.bytes ?? []) + Array(".\(shortName(for: file.bytes))".utf8)
    }
}
#endif
