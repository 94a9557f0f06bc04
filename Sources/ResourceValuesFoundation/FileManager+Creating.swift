#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import StoragePolicy
import SystemPackage

extension FileManager {
    /// Creates a directory that has its protection class from the moment it appears.
    ///
    /// New intermediate directories get the class, too, except those that all programs of the user
    /// share, such as `~/.local/share` and those above it. A directory that already exists, where
    /// that is allowed, is not changed. Other threads and processes may create the same directories at
    /// the same time.
    ///
    /// - Throws: `CocoaError`: `fileWriteFileExists`, `fileNoSuchFile`, `featureUnsupported` (the
    ///   filesystem cannot store the class) and others. New intermediate directories stay.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType], _ unused: Void = ()
    ) throws {
        try createMarkedDirectory(
            at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }

    /// Creates a directory, as ``createDirectory(at:withIntermediateDirectories:attributes:)``
    /// does.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType], _ unused: Void = ()
    ) throws {
        try createMarkedDirectory(
            at: URL(atPath: path), withIntermediateDirectories: createIntermediates,
            attributes: attributes)
    }

    /// Creates a file that has its protection class from the moment it appears. An existing file is
    /// replaced.
    ///
    /// - Returns: whether the file and its class are stored.
    @discardableResult
    public func createFile(
        atPath path: String, contents data: Data?,
        attributes: [FileAttributeKey: FileProtectionType], _ unused: Void = ()
    ) -> Bool {
        createMarkedFile(atPath: path, contents: data, attributes: attributes)
    }

    /// Creates a directory as Foundation's `createDirectory` does, with a given or inherited class.
    ///
    /// The attributes are those of all new directories, also of intermediate ones; the class is not
    /// stored on intermediate ones that all programs of the user share. Unlike Foundation's, this
    /// function throws when an attribute cannot be set.
    package func createMarkedDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {
        let split = try SplitAttributes(attributes ?? [:], url, isNew: true)
        try url.operate(.creating) { path in
            var directories = NewDirectories(split)
            if createIntermediates {
                try directories.createAll(to: path)
            } else {
                try directories.create(path)
            }
            // After all are created, and from the bottom up: the attributes may forbid to create
            // or reach anything in them.
            guard !split.others.isEmpty || split.isImmutable == true else { return }
            for directory in directories.created.reversed() {
                try setOthers(split, ofItemAtPath: directory.foundationPath())
            }
        }
    }

    /// Creates a file as Foundation's `createFile` does, with a given or inherited class, and with
    /// the marks of the file it replaces.
    package func createMarkedFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        do {
            let url = try URL(atPath: path)
            let split = try SplitAttributes(attributes ?? [:], url, isNew: true)
            try (data ?? Data()).write(
                to: url, protection: split.protection, replacing: true,
                permissions: split.permissions ?? 0o666, synchronizing: .content)
            try setOthers(split, ofItemAtPath: path)
            return true
        } catch {
            // The signature has no other way to report a failure.
            return false
        }
    }
}

/// Creates directories, each with its class and with no more permissions than it is to have.
private struct NewDirectories {
    /// The directories that were created, from the top down.
    private(set) var created: [FilePath] = []
    private let protection: FileProtection?
    private let permissions: UInt16
    private lazy var shared = SharedDirectories()

    init(_ attributes: SplitAttributes) {
        protection = attributes.protection
        // The owner needs all permissions until everything is created.
        permissions = (attributes.permissions ?? 0o777) & 0o777 | 0o700
    }

    mutating func create(_ path: FilePath, isShared: Bool = false) throws(FileError) {
        try path.makeDirectory(
            protection: isShared ? nil : protection, permissions: permissions)
        created.append(path)
    }

    /// Creates a directory and those above it, except those that exist or that another thread
    /// creates at the same time.
    mutating func createAll(to path: FilePath) throws(FileError) {
        var missing = [path]
        var asked = path
        while asked.lastComponent?.kind == .currentDirectory { asked.removeLastComponent() }
        // Ends also when another process removes each directory as soon as it exists.
        var attempts = 2 * path.components.count + 100
        while let next = missing.last {
            attempts -= 1
            do throws(FileError) {
                var isShared = false
                if protection != nil, next != asked { isShared = try shared.contains(next) }
                try create(next, isShared: isShared)
            } catch {
                let parent = next.removingLastComponent()
                if error.code == .noSuchFile, !parent.isEmpty, attempts > 0 {
                    missing.append(parent)
                    continue
                }
                guard error.code == .fileExists, next.isDirectory else { throw error }
            }
            missing.removeLast()
        }
    }
}

extension FilePath {
    /// Whether the path leads to a directory, also through a symbolic link.
    fileprivate var isDirectory: Bool { (try? status().kind) == .directory }

    /// The path for a call of Foundation, which takes text only.
    fileprivate func foundationPath() throws(FileError) -> String {
        if let text { return text }
        throw FileError(
            code: .other,
            message: "Foundation cannot set attributes of an item whose name is not UTF-8",
            path: self)
    }
}

/// The directories that all programs of the user share: the base directories, those in
/// `user-dirs.dirs` or by their default names, and the directories above all of these.
///
/// They need not exist. Settings are read once, when the value is made.
struct SharedDirectories {
    private let paths: [FilePath]

    init() {
        let base = currentBaseDirectories()
        let settings = [
            base.cacheHome, base.configurationHome, base.dataHome, base.stateHome,
            base.temporaryDirectory,
        ].compactMap { $0?.path }
        // Also where the settings lead elsewhere: other programs may not know them.
        let byName =
            UserDirectories.defaultNames + [".cache", ".config", ".local/share", ".local/state"]
        let ofData = ["applications", "Trash/files"].flatMap { name in
            base.dataHome.map { [$0.path.appending(name)] } ?? []
        }
        let home = base.home.map { home in [home] + byName.map { home.appending($0) } } ?? []
        paths = (settings + ofData + home + base.userDirectories.values).map {
            $0.lexicallyNormalized()
        }
    }

    /// Whether a directory that is to be created is one of them.
    ///
    /// Only directories above one of the same name are accessed, so a volume that does not respond
    /// delays nothing else. Symbolic links on the way do not matter, since inodes are compared.
    ///
    /// - Throws: ``FileError`` when the directory above does not exist or cannot be reached.
    func contains(_ directory: FilePath) throws(FileError) -> Bool {
        guard let name = directory.lastComponent, name.kind == .regular else { return false }
        let parent = directory.removingLastComponent()
        let identity = try calls(on: directory) { () throws(Errno) in
            try (parent.isEmpty ? "." : parent).status().identity
        }
        return paths.contains { path in
            var above = path
            while let last = above.lastComponent {
                above.removeLastComponent()
                if last == name, (try? above.status().identity) == identity { return true }
            }
            return false
        }
    }
}
#endif
