#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import SystemPackage

/// A reader of one item's values, which reads what several keys need from the kernel only once.
struct ItemReader {
    let url: URL
    let target: CallTarget
    private var statusReader: StatusReader
    private var volumeReader: VolumeReader
    private var knownExtents: FileExtents??
    private var knownEviction: Bool?
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
        case .mayHaveExtendedAttributes: .boolean(try ExtendedAttributeCalls.haveAny(target))
        case .isSparse: try extents().map { .boolean($0.hasHole) }
        case .mayShareFileContent: try sharesContent().map { .boolean($0) }
        case .directoryEntryCount: try entryCount().map { .integer($0) }
        case .name, .localizedName, .path, .canonicalPath, .parentDirectoryURL, .isHidden,
            .isPackage:
            try nameValue(key)
        case .isUbiquitousItem: .boolean(try isEvicted() || isStored())
        case .ubiquitousItemIsUploaded: try isStored() ? .boolean(true) : nil
        case .ubiquitousItemDownloadingStatus:
            try status().kind == .regularFile
                ? .object(isEvicted() ? DownloadingStatus.notDownloaded : .current) : nil
        case .ubiquitousItemIsDownloading, .ubiquitousItemDownloadRequested:
            try isEvicted() ? .boolean(status().permissions == fillingPermissions) : nil
        case _ where key.isOfVolume: try volumeReader.value(key, &statusReader)
        default: try status().value(key)
        }
    }

    private typealias DownloadingStatus = URLUbiquitousItemDownloadingStatus

    private mutating func markValue(_ key: StoredKey) throws -> PropertyValue? {
        let value = try target.value(for: key)
        hasMark = true
        if let value { return PropertyValue(value) }
        switch key {
        case .isExcludedFromBackup:
            return try status().kind == .symbolicLink ? nil : .unsetBoolean
        case .fileProtection:
            return try url.filePath().effectiveProtection().map {
                .inherited(URLFileProtection($0))
            }
        default: return nil
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

    /// Whether `resval-backup evict` has evicted the item, according to the record on it.
    private mutating func isEvicted() throws(FileError) -> Bool {
        if let knownEviction { return knownEviction }
        let isEvicted = try EvictionSign(of: target, try status())?.isEvicted == true
        knownEviction = isEvicted
        return isEvicted
    }

    /// Whether a snapshot contains the file as it is, which no placeholder is.
    private mutating func isStored() throws -> Bool {
        guard try status().kind == .regularFile, try !isEvicted(), let state = stateHome(),
            // A link at the path's end is the item.
            let path = try? realPath(of: try url.filePath(), followsLast: false)
        else { return false }
        return StoredFileRecords(stateHome: state).contain(path, try status(), now: .now)
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
    mutating func nameValue(_ key: KnownKey) throws -> PropertyValue? {
        let path = try url.filePath()
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
        case .name, .localizedName: return named.lastName.text.map { .text($0) }
        case .parentDirectoryURL: return parent(of: named).map { .object($0) }
        case .isHidden: return .boolean(named.lastName.bytes.first == UInt8(ascii: "."))
        case .isPackage: return .boolean(try isPackage(named))
        default: return nil
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

/// The extensions of directories that Apple's systems treat as packages.
let packageExtensions: Set<String> = [
    "app", "appex", "bundle", "component", "kext", "mdimporter", "mpkg", "pkg", "plugin",
    "prefpane", "qlgenerator", "rtfd", "saver", "xpc",
]

extension FileStatus {
    /// Returns the value of a key that the status alone determines; nil for other keys.
    func value(_ key: KnownKey) -> PropertyValue? {
        switch key {
        case .isRegularFile: .boolean(kind == .regularFile)
        case .isDirectory: .boolean(kind == .directory)
        case .isSymbolicLink, .isAliasFile: .boolean(kind == .symbolicLink)
        case .isApplication: .boolean(false)
        case .isVolume: isMountRoot.map { .boolean($0 && kind == .directory) }
        case .fileResourceType: .object(kind.resourceType)
        case .creationDate: creationTime.map { .date(Date($0)) }
        case .contentAccessDate: .date(Date(contentAccessTime))
        case .contentModificationDate: .date(Date(contentModificationTime))
        case .attributeModificationDate: .date(Date(attributeModificationTime))
        case .fileSize, .totalFileSize: kind == .regularFile ? .integer(Int(size)) : nil
        case .fileAllocatedSize, .totalFileAllocatedSize:
            kind == .regularFile ? .integer(Int(allocatedSize)) : nil
        case .linkCount: .integer(linkCount)
        case .preferredIOBlockSize: .integer(preferredBlockSize)
        case .isMountTrigger: isMountTrigger.map { .boolean($0) }
        case .isSystemImmutable, .isUserImmutable: knowsImmutable ? .boolean(isImmutable) : nil
        case .fileResourceIdentifier: .object(identifier(identity.device, identity.inode))
        case .fileIdentifier: .unsigned(identity.inode)
        default: nil
        }
    }
}

extension FileKind {
    fileprivate var resourceType: URLFileResourceType {
        switch self {
        case .regularFile: .regular
        case .directory: .directory
        case .symbolicLink: .symbolicLink
        case .fifo: .namedPipe
        case .socket: .socket
        case .characterDevice: .characterSpecial
        case .blockDevice: .blockSpecial
        case .unknown: .unknown
        }
    }
}

extension Date {
    /// Creates a date from a kernel time; precise to about a tenth of a microsecond.
    package init(_ time: FileTime) {
        let reference = Int64(Date.timeIntervalBetween1970AndReferenceDate)
        self.init(
            timeIntervalSinceReferenceDate: Double(time.seconds.subtractingSaturating(reference))
                + Double(time.nanoseconds) / 1e9)
    }
}

extension FileTime {
    /// Creates a kernel time from a date, to the nearest nanosecond; clamps dates out of range.
    package init(_ date: Date) {
        let interval = date.timeIntervalSinceReferenceDate
        guard interval.isFinite else {
            self.init(seconds: interval < 0 ? -1 << 60 : 1 << 60, nanoseconds: 0)
            return
        }
        let whole = interval.rounded(.down)
        var nanoseconds = ((interval - whole) * 1e9).rounded()
        let carry: Int64 = nanoseconds >= 1e9 ? 1 : 0
        nanoseconds -= Double(carry) * 1e9
        let reference = Int64(Date.timeIntervalBetween1970AndReferenceDate)
        self.init(
            seconds: (Int64(exactly: whole) ?? (whole < 0 ? -1 << 60 : 1 << 60))
                .addingSaturating(reference + carry),
            nanoseconds: UInt32(nanoseconds))
    }
}
#endif
