#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Makes a directory that has its protection class from the first moment it can be found.
    ///
    /// Directories made on the way take the class of the one they are made in. A directory that
    /// exists already, where that is allowed, gets the class.
    ///
    /// - Throws: `CocoaError`: `fileWriteFileExists`, `fileNoSuchFile`, `featureUnsupported` (the
    ///   filesystem cannot hold the class) and others.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws {
        try createMarkedDirectory(
            at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }

    /// Makes a directory, as ``createDirectory(at:withIntermediateDirectories:attributes:)`` does.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws {
        try createMarkedDirectory(
            at: URL(fileURLWithPath: path), withIntermediateDirectories: createIntermediates,
            attributes: attributes)
    }

    /// Stores a file that has its protection class from the first moment it can be found; one that
    /// stands there is replaced.
    ///
    /// - Returns: whether the file and its class are stored.
    @discardableResult
    public func createFile(
        atPath path: String, contents data: Data?,
        attributes: [FileAttributeKey: FileProtectionType]
    ) -> Bool {
        createMarkedFile(atPath: path, contents: data, attributes: attributes)
    }

    /// Foundation's `createDirectory`, with the protection class, given or inherited.
    package func createMarkedDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {
        let split = try SplitAttributes(attributes ?? [:], url)
        try url.operate { path in
            let isNew = try makeDirectories(path, split.protection, createIntermediates)
            if !isNew, let protection = split.protection {
                try path.setValue(protection, for: .fileProtection)
            }
        }
        if !split.others.isEmpty {
            try setAttributes(split.others, ofItemAtPath: url.path)
        }
    }

    /// Foundation's `createFile`, with the protection class, given or inherited, and what a file that
    /// is replaced was marked with.
    package func createMarkedFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        let url = URL(fileURLWithPath: path)
        do {
            let split = try SplitAttributes(attributes ?? [:], url)
            try (data ?? Data()).write(to: url, protection: split.protection, replacing: true)
            if !split.others.isEmpty {
                try setAttributes(split.others, ofItemAtPath: path)
            }
            return true
        } catch {
            // The signature has no other way to say so.
            return false
        }
    }
}

/// Makes a directory and, when asked to, those above it.
///
/// - Returns: whether the directory was made; false when it was there, which only
///   `createIntermediates` allows.
private func makeDirectories(
    _ path: FilePath, _ protection: FileProtection?, _ createIntermediates: Bool
) throws(FileError) -> Bool {
    do throws(FileError) {
        try makeDirectory(at: path, protection: protection)
        return true
    } catch {
        guard createIntermediates else { throw error }
        switch error.code {
        case .fileExists:
            guard try path.resourceValue(for: .isDirectory) == .boolean(true) else { throw error }
            return false
        case .noSuchFile where !path.removingLastComponent().isEmpty:
            _ = try makeDirectories(path.removingLastComponent(), nil, true)
            try makeDirectory(at: path, protection: protection)
            return true
        default: throw error
        }
    }
}
#endif
