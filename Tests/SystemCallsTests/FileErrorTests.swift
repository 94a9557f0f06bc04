import CLinux
import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Errors of files")
struct FileErrorTests {
    private static let knownCodes: [(Errno, FileError.Code)] = [
        (.noSuchFileOrDirectory, .noSuchFile), (.notDirectory, .notADirectory),
        (.permissionDenied, .permissionDenied), (.notPermitted, .permissionDenied),
        (.readOnlyFileSystem, .readOnlyFilesystem), (.noSpace, .noSpace),
        (.diskQuotaExceeded, .quotaExceeded), (.tooManySymbolicLinkLevels, .symbolicLinkLoop),
        (.fileNameTooLong, .nameTooLong), (.ioError, .inputOutput),
        (.tooManyOpenFiles, .tooManyOpenFiles), (.tooManyOpenFilesInSystem, .tooManyOpenFiles),
        (.noFunction, .other), (.noMemory, .other),
    ]

    private static let attributeCodes: [(Errno, FileError.Code)] = [
        (.notSupported, .unsupportedFilesystem), (.argListTooLong, .tooLarge),
        (.outOfRange, .tooLarge), (.fileExists, .attributeExists), (.noData, .noSuchAttribute),
    ]

    @Test("every errno has its code, the same for each call", arguments: knownCodes)
    func known(errno: Errno, code: FileError.Code) {
        let errors =
            errorsOfAttributes(errno) + [
                FileError(errno, of: path), .opening(errno, path),
                FileError(errno as any Error, of: path),
            ]
        for error in errors {
            #expect(error.code == code)
            #expect(error.path == path)
            #expect(error.errno == errno)
            #expect(!error.message.isEmpty)
        }
    }

    @Test("what concerns attributes is said of no other call", arguments: attributeCodes)
    func attributes(errno: Errno, code: FileError.Code) {
        for error in errorsOfAttributes(errno) {
            #expect(error.code == code)
            #expect(error.attribute == "user.a")
        }
        for error in [.opening(errno, path), FileError(errno, of: path)] {
            #expect(error.code == (errno == .fileExists ? .fileExists : .other))
            #expect(!error.description.contains("attribute"))
        }
    }

    private let path: FilePath = "/file"

    private func errorsOfAttributes(_ errno: Errno) -> [FileError] {
        [
            .readingAttribute(errno, "user.a", of: path),
            .storingAttribute(errno, "user.a", on: path, status: nil, user: 0),
        ]
    }

    @Test("a directory replaced during a walk has changed")
    func replacedDirectory() {
        for errno in [Errno.notDirectory, .tooManySymbolicLinkLevels] {
            #expect(FileError.readingDirectory(errno, "/d").code == .changed)
        }
        let denied = FileError.readingDirectory(.permissionDenied, "/d")
        #expect(denied.code == .permissionDenied)
        #expect(denied.message.contains("directory"))
    }

    private static let refusals: [(Int32, UInt64, UInt32, FileError.Code)] = [
        (S_IFLNK | 0o777, 0, 1, .unsupportedFileKind),
        (S_IFIFO | 0o644, 0, 1, .unsupportedFileKind),
        (S_IFSOCK | 0o644, 0, 1, .unsupportedFileKind),
        (S_IFCHR | 0o644, 0, 1, .unsupportedFileKind),
        (S_IFBLK | 0o644, 0, 1, .unsupportedFileKind),
        (S_IFREG | 0o644, UInt64(STATX_ATTR_IMMUTABLE), 1, .immutable),
        (S_IFREG | 0o644, UInt64(STATX_ATTR_APPEND), 1, .immutable),
        (S_IFDIR | 0o1777, 0, 2, .stickyDirectory), (S_IFDIR | 0o1777, 0, 1, .permissionDenied),
        (S_IFREG | 0o644, 0, 2, .permissionDenied),
    ]

    @Test("EPERM is told apart by what the file is", arguments: refusals)
    func refused(mode: Int32, attributes: UInt64, user: UInt32, code: FileError.Code) {
        let status = fileStatus(mode: mode, attributes: attributes, owner: 1)
        let error = FileError.storingAttribute(
            .notPermitted, "user.a", on: "/f", status: status, user: user)
        #expect(error.code == code)
    }

    @Test("EACCES on a read-only file of one's own advises chmod, on another's not")
    func readOnly() throws {
        let status = fileStatus(mode: S_IFREG | 0o444, attributes: 0, owner: 1)
        let own = FileError.storingAttribute(
            .permissionDenied, "user.a", on: "/f", status: status, user: 1)
        let others = FileError.storingAttribute(
            .permissionDenied, "user.a", on: "/f", status: status, user: 2)
        #expect(own.code == .permissionDenied)
        #expect(try #require(own.advice).contains("chmod u+w"))
        #expect(try #require(others.advice).contains("chmod") == false)
    }

    @Test("too many names are not said to be a value that is too large")
    func tooManyNames() {
        for errno in [Errno.argListTooLong, .outOfRange] {
            let listing = FileError.listingAttributes(errno, of: "/f")
            #expect(listing.code == .tooLarge)
            #expect(listing.errno == errno)
            #expect(!listing.message.contains("value"))
        }
        #expect(FileError.listingAttributes(.ioError, of: "/f").code == .inputOutput)
    }

    @Test("nobody is told to remount what is never writable")
    func neverWritable() {
        func advice(_ filesystem: UInt32?) -> String {
            FileError.storingAttribute(
                .readOnlyFileSystem, "user.a", on: "/f", status: nil, user: 0,
                filesystem: filesystem
            ).description
        }
        for filesystem: UInt32? in [nil, 0xEF53] {
            #expect(advice(filesystem).contains("remount"))
        }
        for filesystem: UInt32 in [0x7371_7368, 0xE0F5_E1E2, 0x9660] {
            #expect(!advice(filesystem).contains("remount"))
        }
    }

    private func fileStatus(mode: Int32, attributes: UInt64, owner: UInt32) -> FileStatus {
        var status = statx()
        status.stx_mode = UInt16(mode)
        status.stx_attributes = attributes
        status.stx_attributes_mask = attributes
        status.stx_uid = owner
        return FileStatus(status)
    }
}
