#if !canImport(Darwin)
import Foundation
import SystemCalls

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
    init(_ time: FileTime) {
        let reference = Int64(Date.timeIntervalBetween1970AndReferenceDate)
        self.init(
            timeIntervalSinceReferenceDate: Double(time.seconds.subtractingSaturating(reference))
                + Double(time.nanoseconds) / 1e9)
    }
}

extension FileTime {
    /// Creates a kernel time from a date, to the nearest nanosecond; clamps dates out of range.
    init(_ date: Date) {
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
