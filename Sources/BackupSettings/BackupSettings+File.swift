import CLinux
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

extension BackupSettings {
    /// Where the configuration file is unless something else is named:
    /// `$XDG_CONFIG_HOME/resval/backup.toml`, by default below `~/.config`.
    ///
    /// - Returns: nil where no home is known.
    package static var defaultFile: FilePath? {
        PolicyEnvironment.current().base.configurationHome?.path
            .appending("resval").appending("backup.toml")
    }

    /// Reads a configuration file.
    ///
    /// - Throws: ``FileError`` when it cannot be read; ``SettingsError`` when it is wrong, also when
    ///   it holds a password and others than its owner may read it.
    package static func read(_ path: FilePath) throws -> BackupSettings {
        let (bytes, status) = try contents(of: path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError("is not UTF-8")
        }
        let settings = try BackupSettings(text, home: PolicyEnvironment.current().base.home)
        if case .text = settings.password, status.permissions & 0o077 != 0 {
            throw SettingsError(
                line: LineFinder(text).line(of: SettingsKey.password.rawValue),
                "password is in a file that others may read: chmod 600, or use password-file")
        }
        return settings
    }

    /// Content and status of one and the same file.
    private static func contents(
        of path: FilePath
    ) throws(FileError) -> (bytes: [UInt8], status: FileStatus) {
        do throws(Errno) {
            let file = OwnedDescriptor(try openForReading(path))
            let status = try file.descriptor.status()
            guard status.kind == .regularFile else { throw .invalidArgument }
            var bytes: [UInt8] = []
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
            defer { chunk.deallocate() }
            while true {
                let count = try readFile(file.descriptor, into: chunk)
                if count == 0 { return (bytes, status) }
                bytes.append(contentsOf: chunk[..<count])
                if bytes.count > 1 << 20 { throw .fileTooLarge }
            }
        } catch {
            throw .opening(error, path)
        }
    }
}
