import Foundation

// Foundation's own answers, for comparison: this file imports nothing else.

/// Sets the exclusion from backups through Foundation's `NSURL`, and returns what it then reads.
func foundationExclusion(of path: String) throws -> Bool? {
    let url = NSURL(fileURLWithPath: path)
    try url.setResourceValue(true, forKey: .isExcludedFromBackupKey)
    try url.setResourceValues([.isExcludedFromBackupKey: true])
    return try NSURL(fileURLWithPath: path)
        .resourceValues(forKeys: [.isExcludedFromBackupKey])[.isExcludedFromBackupKey] as? Bool
}

func setFoundationAttributes(_ attributes: [FileAttributeKey: Any], of path: String) throws {
    try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
}

func foundationCreationDate(of path: String) throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: path)[.creationDate] as? Date
}

func createFoundationDirectory(
    _ path: String, _ createsIntermediates: Bool,
    _ attributes: [FileAttributeKey: Any]?
) throws {
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: createsIntermediates, attributes: attributes)
}

func copyFoundationItem(_ path: String, to copy: String) throws {
    try FileManager.default.copyItem(atPath: path, toPath: copy)
}

func foundationURLs(
    _ directory: FileManager.SearchPathDirectory, _ domain: FileManager.SearchPathDomainMask
) -> [URL] {
    FileManager.default.urls(for: directory, in: domain)
}
