import SystemCalls
import SystemPackage

extension FilePath {
    /// Creates a directory at this path that has its protection class from the moment it appears.
    ///
    /// - Parameters:
    ///   - protection: the class to store; nil for the class of the parent.
    ///   - permissions: the permission bits, reduced by the process's umask as for `mkdir(2)`.
    /// - Throws: ``FileError``: `noSuchFile` (the parent, which must exist), `fileExists`,
    ///   `unsupportedFilesystem` (it cannot store the class) and others. Nothing is created then.
    public func makeDirectory(
        protection: FileProtection? = nil, permissions: UInt16 = 0o777
    ) throws(FileError) {
        let place = try ItemPlace(self)
        guard try place.statusIfPresent() == nil else { throw .changingItem(.fileExists, self) }
        var staged = try StagedDirectory(at: place, permissions: permissions)
        let inherited = try place.inheritedProtection()
        if let protection = protection ?? inherited {
            try withPath(self) { () throws(FileError) in
                try staged.directory.descriptor.setValue(protection, for: .fileProtection)
            }
        }
        try staged.publish(at: place)
    }
}
