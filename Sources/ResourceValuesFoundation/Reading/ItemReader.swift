#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

/// A reader of one item's values, which reads what several keys need from the kernel only once.
struct ItemReader {
    let url: URL
    let target: CallTarget
    private var statusReader: StatusReader
    private var volumeReader: VolumeReader
    private var knownExtents: FileExtents??
    private var knownEviction: EvictionState?
    private var hasMark = false

    init(_ url: URL, _ target: CallTarget) {
        self.url = url
        self.target = target
        statusReader = StatusReader(target)
        volumeReader = VolumeReader(target)
    }

    /// Returns the values of some keys, without those that are nil.
    ///
    /// - Throws: ``FileError`` or an errno, `noSuchFile` also where no key requires access to the
    ///   item.
    mutating func values(
        _ keys: some Collection<URLResourceKey>
    ) throws -> URLResourceValues {
        var values = URLResourceValues(capacity: keys.count)
        for key in keys {
            guard let known = key.known, let value = try value(known) else { continue }
            values.append(value, for: known)
        }
        if !hasMark && !volumeReader.hasReachedItem { _ = try status() }
        return values
    }

    private mutating func status() throws(FileError) -> FileStatus { try statusReader.status() }

    private mutating func value(_ key: KnownKey) throws -> PropertyValue? {
        if let mark = key.mark { return try markValue(mark) }
        return switch key {
        case .isReadable: .boolean(try target.isAccessible(for: .read))
        case .isWritable: .boolean(try target.isAccessible(for: .write))
        case .isExecutable: .boolean(try target.isAccessible(for: .execute))
        case .mayHaveExtendedAttributes: .boolean(try hasExtendedAttributes())
        case .isSparse: try extents().map { .boolean($0.hasHole) }
        case .mayShareFileContent: try sharesContent().map { .boolean($0) }
        case .directoryEntryCount: try entryCount().map { .integer($0) }
        case .name, .localizedName, .path, .canonicalPath, .parentDirectoryURL, .isHidden,
            .isPackage:
            try nameValue(key)
        case .isUbiquitousItem, .ubiquitousItemDownloadingStatus, .ubiquitousItemIsDownloading,
            .ubiquitousItemDownloadingError, .ubiquitousItemDownloadRequested:
            try eviction().value(key)
        case .ubiquitousItemIsUploaded:
            try eviction().isStored(at: path()) ? .boolean(true) : nil
        default: try otherValue(key)
        }
    }

    private mutating func otherValue(_ key: KnownKey) throws -> PropertyValue? {
        if key.isOfVolume { return try volumeReader.value(key, &statusReader) }
        return try status().value(key)
    }

    private mutating func markValue(_ key: StoredKey) throws(FileError) -> PropertyValue? {
        let value = try target.value(for: key)
        hasMark = true
        if let value { return PropertyValue(value) }
        guard key == .isExcludedFromBackup, try status().kind != .symbolicLink else { return nil }
        return .unsetBoolean
    }

    private func hasExtendedAttributes() throws(Errno) -> Bool {
        do throws(Errno) {
            return try ExtendedAttributeCalls.listLength(target) > 0
        } catch .notSupported {
            return false
        }
    }

    private mutating func entryCount() throws -> Int? {
        guard try status().kind == .directory else { return nil }
        return try unlessForbidden { () throws(Errno) in
            var count = 0
            try forEachName(in: target) { _ in
                count += 1
                return true
            }
            return count
        }
    }

    private mutating func extents() throws -> FileExtents? {
        if let knownExtents { return knownExtents }
        let status = try status()
        guard status.kind == .regularFile else { return nil }
        let extents = try unlessForbidden { () throws(Errno) in
            try fileExtents(of: target, size: status.size)
        }
        knownExtents = .some(extents)
        return extents
    }

    private mutating func eviction() throws(FileError) -> EvictionState {
        if let knownEviction { return knownEviction }
        let state = try EvictionState(target, try status())
        knownEviction = state
        return state
    }

    private mutating func sharesContent() throws -> Bool? {
        guard let extents = try extents() else { return nil }
        // Without information on extents, content is still known to be unshared where the
        // filesystem cannot clone.
        if let isShared = extents.isShared { return isShared }
        return volumeReader.volume()?.canClone == false ? false : nil
    }

    /// Returns the result of a call that needs permission to read the item, or nil without permission.
    private func unlessForbidden<Result>(
        _ body: () throws(Errno) -> Result?
    ) throws(Errno) -> Result? {
        do throws(Errno) {
            return try body()
        } catch .permissionDenied, .notPermitted {
            return nil
        }
    }
}

/// A reader of an item's status, with one `statx(2)` however often it is asked.
struct StatusReader {
    private let target: CallTarget
    private var known: FileStatus?

    init(_ target: CallTarget) { self.target = target }

    mutating func status() throws(FileError) -> FileStatus {
        if let known { return known }
        let status = try target.fileStatus()
        known = status
        return status
    }
}

extension ItemReader {
    /// Returns the value of a key that the item's path determines; nil for other keys.
    mutating func nameValue(_ key: KnownKey) throws(FileError) -> PropertyValue? {
        let path = try path()
        switch key {
        case .path: return path.text.map { .text($0) }
        case .canonicalPath:
            return try realPath(of: path, followsLast: false).text.map { .text($0) }
        default: break
        }
        // The last component of a path such as `a/..` is not the item's name.
        let isNamed = path.lastComponent?.kind == .regular
        let named = isNamed || path == "/" ? path : try realPath(of: path, followsLast: false)
        switch key {
        case .name, .localizedName: return lastName(named).text.map { .text($0) }
        case .parentDirectoryURL: return parent(of: named).map { .object($0) }
        case .isHidden: return .boolean(lastName(named).bytes.first == UInt8(ascii: "."))
        case .isPackage: return .boolean(try isPackage(named))
        default: return nil
        }
    }

    private func path() throws(FileError) -> FilePath {
        do {
            return try url.filePath()
        } catch {
            // The URL led to the item before, and cannot change.
            throw FileError(code: .other, message: "the URL has no path")
        }
    }

    private func parent(of path: FilePath) -> URL? {
        guard path != "/" else { return nil }
        return URL(bytesOf: path.removingLastComponent(), isDirectory: true)
    }

    private mutating func isPackage(_ path: FilePath) throws(FileError) -> Bool {
        guard let suffix = path.extension?.lowercased(), packageExtensions.contains(suffix)
        else { return false }
        return try status().kind == .directory
    }
}

/// Returns the last component, or `/`.
private func lastName(_ path: FilePath) -> FilePath {
    path.lastComponent.map { FilePath(root: nil, components: $0) } ?? path
}

/// The extensions of directories that Apple's systems treat as packages.
let packageExtensions: Set<String> = [
    "app", "appex", "bundle", "component", "kext", "mdimporter", "mpkg", "pkg", "plugin",
    "prefpane", "qlgenerator", "rtfd", "saver", "xpc",
]
#endif
