#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Creates a directory that has its protection class from the moment it appears.
    ///
    /// Intermediate directories inherit the class of the directory they are created in. A directory
    /// that already exists, where that is allowed, is given the class.
    ///
    /// - Throws: `CocoaError`: `fileWriteFileExists`, `fileNoSuchFile`, `featureUnsupported` (the
    ///   filesystem cannot store the class) and others.
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
    package func createMarkedDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {
        let split = try SplitAttributes(attributes ?? [:], url)
        try url.operate(.creating) { path in
            let isNew = try makeDirectories(path, split.protection, createIntermediates)
            if !isNew, let protection = split.protection {
                try path.setValue(protection, for: .fileProtection)
            }
        }
        if !split.others.isEmpty {
            try setAttributes(split.others, ofItemAtPath: url.path)
        }
    }

    /// Creates a file as Foundation's `createFile` does, with a given or inherited class, and with
    /// the marks of the file it replaces.
    package func createMarkedFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        do {
            let url = try URL(atPath: path)
            let split = try SplitAttributes(attributes ?? [:], url)
            try (data ?? Data()).write(to: url, protection: split.protection, replacing: true)
            if !split.others.isEmpty {
                try setAttributes(split.others, ofItemAtPath: path)
            }
            return true
        } catch {
            // The signature has no other way to report a failure.
            return false
        }
    }
}

/// Creates a directory and, if requested, those above it.
///
/// - Returns: whether the directory was created; false when it existed, which only
///   `createIntermediates` allows.
private func makeDirectories(
    _ path: FilePath, _ protection: FileProtection?, _ createIntermediates: Bool
) throws(FileError) -> Bool {
    do throws(FileError) {
        try path.makeDirectory(protection: protection)
        return true
    } catch {
        guard createIntermediates else { throw error }
        switch error.code {
        case .fileExists:
            guard try path.resourceValue(for: .isDirectory) == .boolean(true) else { throw error }
            return false
        case .noSuchFile where !path.removingLastComponent().isEmpty:
            _ = try makeDirectories(path.removingLastComponent(), nil, true)
            try path.makeDirectory(protection: protection)
            return true
        default: throw error
        }
    }
}
#endif
