import CLinux
import JSONWriting
import SystemCalls
import SystemPackage

/// Moves units to a directory on the same filesystem instead of deleting them.
///
/// The directory is `.resval-trash-YYYY-MM-DD`, for its owner only, in the home, else at the top of
/// what the purger owns on the way to the unit, else beside the unit. Its file `.index` has the name
/// there and the original path of each item, each with a NUL behind it.
struct Trash {
    private let name: String
    private let home: FilePath?
    private let rules: PurgeRules

    init(now: FileTime, home: FilePath?, _ rules: PurgeRules) {
        name = "\(TrashName.prefix)\(now.rfc3339.prefix(10))"
        self.home = home
        self.rules = rules
    }

    /// Moves a unit that was examined.
    ///
    /// - Throws: `FileError`, and ``KeepReason`` `changed` for what was replaced meanwhile.
    func take(_ examined: Examination) throws {
        let candidates = try candidates(for: examined)
        for candidate in candidates {
            let isMoved: Bool
            do throws(Errno) {
                let directory = try openTrash(in: candidate.descriptor)
                isMoved = try move(examined, to: directory.descriptor)
            } catch .improperLink, .permissionDenied, .readOnlyFileSystem, .notPermitted {
                // Another mount, or nothing that may be written.
                continue
            } catch {
                throw FileError.changingItem(error, FilePath(bytes: examined.unit.path))
            }
            guard isMoved else { throw KeepReason.changed }
            return
        }
        throw FileError.changingItem(.improperLink, FilePath(bytes: examined.unit.path))
    }

    /// Directories above a unit that may hold the trash, the best first.
    private func candidates(for examined: Examination) throws(KeepReason) -> [OpenedFile] {
        // A home that cannot be reached is on no way to a unit.
        let homeIdentity = try? home?.status().identity
        var found: [OpenedFile] = []
        var homes: [OpenedFile] = []
        var directory = OpenedFile(
            try reaching { () throws(Errno) in try openDirectoryReference("/") })
        let names = RelativePath(absolute: examined.place.parentPath)?.names ?? []
        for name in [nil] + names.map(Optional.some) {
            if let name {
                let above = directory.descriptor
                directory = OpenedFile(
                    try reaching { () throws(Errno) in
                        try openFile(
                            in: above, FilePath(bytes: name),
                            flags: O_PATH | O_DIRECTORY | O_NOFOLLOW)
                    })
            }
            let opened = directory.descriptor
            let status = try reaching { () throws(Errno) in try opened.status() }
            guard status.identity.device == examined.unit.identity.device,
                status.owner == rules.user, status.permissions & 0o022 == 0,
                !rules.places.protectedRoots.contains(status.identity)
            else { continue }
            if status.identity == homeIdentity {
                homes.append(directory)
            } else {
                found.append(directory)
            }
        }
        return homes + found + [examined.place.parent]
    }

    private func openTrash(in directory: FileDescriptor) throws(Errno) -> OpenedFile {
        for number in 1..<100 {
            let name = FilePath(number == 1 ? self.name : "\(self.name)-\(number)")
            do throws(Errno) {
                try makeDirectory(name, in: directory, permissions: 0o700)
            } catch .fileExists {
                // Perhaps an earlier run's.
            }
            do throws(Errno) {
                let opened = OpenedFile(try openDirectoryToRead(name, in: directory))
                let status = try opened.descriptor.status()
                if status.owner == rules.user, status.permissions & 0o077 == 0 { return opened }
            } catch .notDirectory, .tooManySymbolicLinkLevels, .permissionDenied {
                continue
            }
        }
        throw .fileExists
    }

    /// - Returns: false when something else had the name by now, which has it again.
    private func move(
        _ examined: Examination, to trash: FileDescriptor
    ) throws(Errno) -> Bool {
        let place = examined.place
        let name = FilePath(bytes: place.name)
        for number in 1..<10_000 {
            let newName = number == 1 ? place.name : numbered(place.name, number)
            let target = DirectoryEntryLocation(directory: trash, name: FilePath(bytes: newName))
            guard try !exists(target) else { continue }
            try note(newName, examined.unit.path, in: trash)
            do throws(Errno) {
                try renameItem(name, in: place.directory, to: target.name, in: trash, .absent)
            } catch .fileExists {
                continue
            }
            guard try target.status().identity == examined.unit.identity else {
                try renameItem(target.name, in: trash, to: name, in: place.directory, .absent)
                return false
            }
            return true
        }
        throw .fileExists
    }

    private func numbered(_ name: [UInt8], _ number: Int) -> [UInt8] {
        let prefix = Array("\(number)-".utf8)
        return prefix + name.prefix(255 - prefix.count)
    }

    private func exists(_ location: DirectoryEntryLocation) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try location.status()
            return true
        } catch .noSuchFileOrDirectory {
            return false
        }
    }

    /// Notes an item before it is moved: after a crash the index may have too much, never too little.
    private func note(
        _ name: [UInt8], _ path: [UInt8], in trash: FileDescriptor
    ) throws(Errno) {
        let index = OpenedFile(
            try openFile(
                in: trash, ".index", flags: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
                permissions: 0o600))
        var failure: Errno?
        (name + [0] + path + [0]).withUnsafeBytes { bytes in
            do throws(Errno) {
                try writeFile(index.descriptor, bytes)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

/// The names of directories that hold what was moved to the trash.
enum TrashName {
    static let prefix = ".resval-trash-"

    static func matches(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: prefix.utf8)
    }
}
