import SystemCalls
import SystemPackage

/// Makes a directory that has its protection class from the first moment it can be found.
///
/// - Parameters:
///   - path: the directory to make; the one above must exist.
///   - protection: the class to store; nil for the one of the directory above.
///   - permissions: taken as `mkdir(2)` takes them, less the process's umask.
/// - Throws: ``FileError``: `noSuchFile` (the directory above), `fileExists`,
///   `unsupportedFilesystem` (it cannot hold the class) and others. Nothing is made then.
public func makeDirectory(
    at path: FilePath, protection: FileProtection? = nil, permissions: UInt16 = 0o777
) throws(FileError) {
    let place = try ItemPlace(path)
    guard try place.statusIfPresent() == nil else { throw .changingItem(.fileExists, path) }
    var staged = try StagedDirectory(at: place, permissions: permissions)
    let inherited = try place.inheritedProtection()
    if let protection = protection ?? inherited {
        try withPath(path) { () throws(FileError) in
            try staged.descriptor.setValue(protection, for: .fileProtection)
        }
    }
    try staged.publish(at: place)
}
