// Ordinary code for Apple's platforms, with this package's module in place of Foundation. It has to
// compile in Swift 5 and 6 mode without a warning, and the tests run it.

import ResourceValuesFoundation

// Reading.

let prefetched: [URLResourceKey] = [.isDirectoryKey, .fileSizeKey]

struct Keys {
    static let names: Set<URLResourceKey> = [.nameKey, .isDirectoryKey]
}

func readWithLiterals(_ url: URL) throws {
    _ = try url.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup
    let values = try url.resourceValues(forKeys: [.fileSizeKey, .isPurgeableKey])
    _ = values.isPurgeable
    _ = (try? url.resourceValues(forKeys: [.creationDateKey]))?.creationDate
    _ = try? url.resourceValues(forKeys: [.creationDateKey]).creationDate
    _ = try url.resourceValues(forKeys: [])
}

func readWithSets(_ url: URL) throws {
    let set: Set<URLResourceKey> = [.isExcludedFromBackupKey, .isPurgeableKey]
    _ = try url.resourceValues(forKeys: set)
    let typed: URLResourceValues = try url.resourceValues(forKeys: set)
    _ = typed.isPurgeable
    _ = try url.resourceValues(forKeys: Set([.fileSizeKey, .isPurgeableKey])).isPurgeable
    _ = try url.resourceValues(forKeys: Set([.fileSizeKey])).fileSize
    _ = try url.resourceValues(forKeys: .init([.fileSizeKey]))
    _ = try url.resourceValues(forKeys: Set(prefetched))
    _ = try url.resourceValues(forKeys: Keys.names)
    var growing: Set<URLResourceKey> = []
    growing.insert(.fileSizeKey)
    growing.formUnion([.nameKey])
    _ = try url.resourceValues(forKeys: growing.union([.isDirectoryKey]))
    let unapplied: (URL) -> (Set<URLResourceKey>) throws -> URLResourceValues =
        URL.resourceValues(forKeys:)
    _ = try unapplied(url)(set)
}

func readWithVariables(_ url: URL, _ isImportant: Bool) throws {
    let key: URLResourceKey =
        isImportant
        ? .volumeAvailableCapacityForImportantUsageKey
        : .volumeAvailableCapacityForOpportunisticUsageKey
    let values = try url.resourceValues(forKeys: [key])
    _ = values.allValues[key]
    _ = values.allValues[.fileSizeKey]
    for (key, value) in values.allValues { _ = (key.rawValue, value) }
    _ = try url.resourceValues(forKeys: isImportant ? [.fileSizeKey] : [.isDirectoryKey])
    _ = try url.resourceValues(forKeys: [isImportant ? .fileSizeKey : .isPurgeableKey])
}

func readLater(_ url: URL) async throws -> Int64? {
    let key = URLResourceKey.volumeAvailableCapacityForImportantUsageKey
    return try url.resourceValues(forKeys: [key]).volumeAvailableCapacityForImportantUsage
}

func isMark(_ key: URLResourceKey) -> Bool {
    switch key {
    case .isPurgeableKey, .isExcludedFromBackupKey: true
    case .fileSizeKey: false
    default: false
    }
}

// Closures.

func newestFirst(_ urls: [URL]) -> [URL] {
    urls.sorted {
        (try? $0.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate)
            ?? .distantPast
            > (try? $1.resourceValues(forKeys: [.contentModificationDateKey])
                .contentModificationDate) ?? .distantPast
    }
}

func dates(_ urls: [URL]) -> [Date] {
    urls.compactMap { try? $0.resourceValues(forKeys: [.contentModificationDateKey]) }
        .compactMap(\.contentModificationDate)
}

func totalSize(_ urls: [URL]) throws -> Int {
    let sizes = try urls.map { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
    return sizes.reduce(0, +)
}

func totalSpace(_ urls: [URL]) -> Int {
    urls.compactMap {
        try? $0.resourceValues(forKeys: [.totalFileAllocatedSizeKey]).totalFileAllocatedSize
    }.reduce(0, +)
}

// Types as on Apple's systems.

func useTypes(_ values: URLResourceValues) {
    let needed: Int64 = 5
    if let available = values.volumeAvailableCapacityForImportantUsage, needed < available {}
    if let total = values.volumeTotalCapacity, needed < total {}
    _ = values.totalFileAllocatedSize.map { Int64($0) }
    let protection: URLFileProtection = values.fileProtection ?? .none
    _ = "\(protection.rawValue)"
    let identifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? =
        values.fileResourceIdentifier
    _ = identifier?.isEqual(values.volumeIdentifier)
    let type: URLFileResourceType? = values.fileResourceType
    if type == .regular || type == .directory {}
    if values.ubiquitousItemDownloadingStatus == .current {}
    _ = values.ubiquitousItemDownloadingError?.localizedDescription
    _ = values.fileIdentifier.map { UInt64($0) }
    _ = values.contentModificationDate?.timeIntervalSinceNow
    _ = values.parentDirectory?.path ?? values.volume?.path
}

// Evicting, and bringing back.

func makeCurrent(_ url: URL) throws -> Bool {
    let values = try url.resourceValues(forKeys: [
        .isUbiquitousItemKey, .ubiquitousItemDownloadingStatusKey,
        .ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadingErrorKey,
    ])
    if let error = values.ubiquitousItemDownloadingError { throw error }
    if FileManager.default.isUbiquitousItem(at: url), values.ubiquitousItemIsDownloading == false,
        values.ubiquitousItemDownloadingStatus == .notDownloaded
    {
        try FileManager.default.startDownloadingUbiquitousItem(at: url)
    }
    return values.ubiquitousItemDownloadingStatus == .current
}

func makeRoom(_ urls: [URL]) throws {
    for url in urls { try FileManager.default.evictUbiquitousItem(at: url) }
}

// Storing.

func exclude(_ url: URL) throws {
    var url = url
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try url.setResourceValues(values)
}

struct Document {
    var url: URL
    let constant: URL

    mutating func excludeMutating() throws {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
    }

    func exclude() throws {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        try constant.setResourceValues(values)
    }
}

func store(_ values: URLResourceValues, on url: inout URL) throws {
    try url.setResourceValues(values)
}

func store(_ values: URLResourceValues, onAll urls: [URL]) throws {
    for url in urls { try url.setResourceValues(values) }
    for var url in urls { try url.setResourceValues(values) }
    try urls.first?.setResourceValues(values)
    try urls.last?.deletingLastPathComponent().setResourceValues(values)
}

func forgetCaches(_ url: URL) {
    var url = url
    url.removeCachedResourceValue(forKey: .isPurgeableKey)
    url.removeAllCachedResourceValues()
    url.setTemporaryResourceValue("value", forKey: URLResourceKey("key"))
}

func unsetKeys(_ url: URL, _ values: URLResourceValues) -> [URLResourceKey] {
    do {
        try url.setResourceValues(values)
        return []
    } catch let error as CocoaError where error.code == .fileNoSuchFile {
        let keys = error.userInfo[URLResourceKey.keysOfUnsetValuesKey.rawValue]
        return keys as? [URLResourceKey] ?? []
    } catch {
        return []
    }
}

func setAttributes(_ path: String) throws {
    try FileManager.default.setAttributes([:], ofItemAtPath: path)
    try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.complete], ofItemAtPath: path)
}

// Listing.

func list(_ directory: URL) throws -> [URL] {
    let manager = FileManager.default
    let none: [URLResourceKey]? = nil
    _ = try manager.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
    _ = try manager.contentsOfDirectory(at: directory, includingPropertiesForKeys: none)
    _ = try manager.contentsOfDirectory(at: directory, includingPropertiesForKeys: [])
    _ = try manager.contentsOfDirectory(at: directory, includingPropertiesForKeys: prefetched)
    _ = try manager.contentsOfDirectory(
        at: directory, includingPropertiesForKeys: Array(Keys.names), options: [])
    return try manager.contentsOfDirectory(
        at: directory, includingPropertiesForKeys: [.isPurgeableKey, .fileSizeKey],
        options: [.skipsHiddenFiles])
}

func directories(_ directory: URL) throws -> [URL] {
    try FileManager.default
        .contentsOfDirectory(at: directory, includingPropertiesForKeys: [.isDirectoryKey])
        .filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false }
}

func sizeOfTree(_ directory: URL) throws -> Int {
    let manager = FileManager.default
    guard let items = manager.enumerator(at: directory, includingPropertiesForKeys: prefetched)
    else { return 0 }
    var total = 0
    for case let item as URL in items {
        let values = try item.resourceValues(forKeys: Set(prefetched))
        if values.isDirectory ?? false { continue }
        total += values.fileSize ?? 0
    }
    return total
}

func enumerate(_ directory: URL) -> Int {
    let manager = FileManager.default
    let items = manager.enumerator(
        at: directory, includingPropertiesForKeys: [.fileSizeKey, .isPurgeableKey],
        options: [.skipsHiddenFiles], errorHandler: { _, _ in true })
    _ = manager.enumerator(at: directory, includingPropertiesForKeys: nil)?.allObjects
    _ = manager.enumerator(at: directory, includingPropertiesForKeys: [.isDirectoryKey]) { _, _ in
        false
    }
    return items?.allObjects.count ?? 0
}

func volumes() -> [URL] {
    let manager = FileManager.default
    _ = manager.mountedVolumeURLs(includingResourceValuesForKeys: nil, options: [])
    let keys: [URLResourceKey] = [.volumeNameKey, .isPurgeableKey]
    return manager.mountedVolumeURLs(includingResourceValuesForKeys: keys, options: []) ?? []
}

// References without a call.

func references(_ attributes: [FileAttributeKey: Any]) -> Bool {
    let manager = FileManager.default
    _ = manager.contentsOfDirectory(at:includingPropertiesForKeys:options:)
    _ = manager.enumerator(at:includingPropertiesForKeys:options:errorHandler:)
    _ = manager.createDirectory(at:withIntermediateDirectories:attributes:)
    _ = manager.createFile(atPath:contents:attributes:)
    _ = manager.mountedVolumeURLs(includingResourceValuesForKeys:options:)
    return attributes[.protectionKey] as? FileProtectionType == .complete
}

/// Runs the forms on a directory that holds a file `f` of 5 bytes, and nothing else that counts.
///
/// - Returns: what did not hold.
public func failuresOfCallForms(in directory: URL) throws -> [String] {
    var failures: [String] = []
    func expect(_ isTrue: Bool, _ what: String) { if !isTrue { failures.append(what) } }
    var file = directory.appendingPathComponent("f")
    try readWithLiterals(file)
    try readWithSets(file)
    try readWithVariables(file, true)
    try useTypes(file.resourceValues(forKeys: prefetched))
    forgetCaches(file)
    try expect(totalSize([file]) == 5, "totalSize")
    expect(totalSpace([file]) >= 0, "totalSpace")
    expect(dates([file]).count == 1 && newestFirst([file, directory]).count == 2, "dates")
    expect(isMark(.isPurgeableKey) && !isMark(.fileSizeKey), "switch")
    try expect(list(directory).count == 1 && directories(directory).isEmpty, "list")
    try expect(sizeOfTree(directory) == 5 && enumerate(directory) == 1, "enumerate")
    expect(!volumes().isEmpty, "volumes")
    try expect(makeCurrent(file), "makeCurrent")
    try makeRoom([])
    try setAttributes(file.path)
    let protection = try file.resourceValues(forKeys: [.fileProtectionKey]).fileProtection
    expect(protection == .complete, "setAttributes")
    var values = URLResourceValues()
    values.isPurgeable = true
    try store(values, on: &file)
    try store(values, onAll: [file])
    try exclude(file)
    var document = Document(url: file, constant: file)
    try document.excludeMutating()
    try document.exclude()
    let read = try file.resourceValues(forKeys: [.isPurgeableKey, .isExcludedFromBackupKey])
    expect(read.isPurgeable == true && read.isExcludedFromBackup == true, "store")
    let missing = directory.appendingPathComponent("missing")
    expect(unsetKeys(missing, values) == [.isPurgeableKey], "unsetKeys")
    return failures
}
