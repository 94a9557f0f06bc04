import SystemCalls
import SystemPackage

/// Creates a directory that has its protection class from the moment it appears at its path.
///
/// - Parameters:
///   - path: the directory to create; its parent must exist.
///   - protection: the class to store; nil for the class of the parent.
///   - permissions: the permission bits, reduced by the process's umask as for `mkdir(2)`.
/// - Throws: ``FileError``: `noSuchFile` (the parent), `fileExists`, `unsupportedFilesystem` (it
///   cannot store the class) and others. Nothing is created then.
public func makeDirectory(
    at path: FilePath, protection: FileProtection? = nil, permissions: UInt16 = 0o777
) throws(FileError) {
    let place = try ItemPlace(path)
    guard try place.statusIfPresent() == nil else { throw .changingItem(.fileExists, path) }
    var staged = try StagedDirectory(at: place, permissions: permissions)
    let inherited = try place.inheritedProtection()
    if let protection = protection ?? inherited {
        try withPath(path) { () throws(FileError) in
            try staged.directory.descriptor.setValue(protection, for: .fileProtection)
        }
    }
    try staged.publish(at: place)
}
