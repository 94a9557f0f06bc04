import CLinux
import Foundation
import SystemCalls
import SystemPackage

/// Calls `body` with a new directory on a filesystem with user attributes, and removes it
/// afterwards, however deep it then is.
func withTemporaryDirectory<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    var template = Array("/var/tmp/effective-values-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    let directory = FilePath(platformString: template)
    defer { remove(directory) }
    return try body(directory)
}

/// `rm` goes down by descriptor, so it removes what lies beyond `PATH_MAX` too.
private func remove(_ directory: FilePath) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/rm")
    process.arguments = ["-rf", "--", directory.string]
    do {
        try process.run()
        process.waitUntilExit()
    } catch {
        print("\(directory.string) stays behind: \(error)")
    }
}

/// Makes a directory for each name, each in the one before.
func makeDirectories(_ names: [FilePath], in root: FilePath) throws {
    var parent = try openFile(
        in: FileDescriptor(rawValue: AT_FDCWD), root, flags: O_PATH | O_DIRECTORY)
    defer { _ = close(parent.rawValue) }
    for name in names {
        let made = name.withPlatformString { mkdirat(parent.rawValue, $0, 0o755) }
        guard made == 0 else { throw Errno(rawValue: errno) }
        let next = try openFile(in: parent, name, flags: O_PATH | O_DIRECTORY)
        _ = close(parent.rawValue)
        parent = next
    }
}

/// Makes an empty file, or one with a text.
func makeFile(_ path: FilePath, _ text: String = "") throws {
    let file = try openFile(
        in: FileDescriptor(rawValue: AT_FDCWD), path, flags: O_WRONLY | O_CREAT | O_EXCL,
        permissions: 0o644)
    defer { _ = close(file.rawValue) }
    var bytes = Array(text.utf8)
    try bytes.withUnsafeMutableBytes { try writeFile(file, UnsafeRawBufferPointer($0)) }
}

func makeLink(_ path: FilePath, to target: FilePath) throws {
    let made = target.withPlatformString { target in
        path.withPlatformString { symlink(target, $0) }
    }
    guard made == 0 else { throw Errno(rawValue: errno) }
}

func makeHardLink(_ path: FilePath, to file: FilePath) throws {
    let made = file.withPlatformString { file in
        path.withPlatformString { link(file, $0) }
    }
    guard made == 0 else { throw Errno(rawValue: errno) }
}
