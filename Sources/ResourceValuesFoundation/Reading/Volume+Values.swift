#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import SystemPackage

extension Volume {
    /// Returns the value of a key that the volume determines; nil for other keys.
    func value(_ key: KnownKey) -> PropertyValue? {
        switch key {
        case .volumeURL: URL(bytesOf: mount.mountPoint, isDirectory: true).map { .object($0) }
        case .volumeName, .volumeLocalizedName: name.map { .text($0) }
        case .volumeTypeName, .volumeLocalizedFormatDescription: .text(mount.filesystemType)
        case .volumeMountFromLocation:
            String(validating: mount.source, as: UTF8.self).map { .text($0) }
        case .volumeUUIDString: uuid.map { .text($0) }
        case .volumeCreationDate: creationTime.map { .date(Date($0)) }
        case .volumeIsRootFileSystem: .boolean(mount.mountPoint == "/")
        default: (fact(key) ?? feature(key)).map { .boolean($0) }
        }
    }

    private var name: String? {
        if let label { return String(validating: label, as: UTF8.self) }
        return mount.mountPoint.lastComponent.map { FilePath(root: nil, components: $0).text }
            ?? "/"
    }

    private func fact(_ key: KnownKey) -> Bool? {
        switch key {
        case .volumeIsLocal: isLocal
        case .volumeIsEncrypted: isEncrypted
        case .volumeIsAutomounted: isAutomounted
        case .volumeIsBrowsable: mount.category != .pseudo
        case .volumeIsRemovable: isRemovable
        case .volumeIsEjectable: isEjectable
        case .volumeIsInternal: isInternal
        case .volumeIsJournaling: isJournaling
        case .volumeSupportsFileCloning: canClone
        case .volumeSupportsExtendedSecurity: canStore("system.posix_acl_access")
        case .volumeSupportsFileProtection:
            canStore(StoredKey<FileProtection>.fileProtection.attribute)
        default: nil
        }
    }

    private func feature(_ key: KnownKey) -> Bool? {
        switch key {
        case .volumeSupportsSymbolicLinks: features?.contains(.symbolicLinks)
        case .volumeSupportsHardLinks: features?.contains(.hardLinks)
        case .volumeSupportsJournaling: features?.contains(.journal)
        case .volumeSupportsSparseFiles: features?.contains(.holes)
        case .volumeSupportsZeroRuns: features?.contains(.unwrittenRanges)
        case .volumeSupportsCaseSensitiveNames: features?.contains(.caseSensitivity)
        case .volumeSupportsCasePreservedNames: features?.contains(.casePreservation)
        case .volumeSupportsRootDirectoryDates: features?.contains(.rootDirectoryDates)
        case .volumeSupportsRenaming: features?.contains(.relabelling)
        case .volumeSupportsAdvisoryFileLocking: features?.contains(.locking)
        case .volumeSupportsCompression: features?.contains(.compression)
        case .volumeSupportsSwapRenaming: features?.contains(.swapRenaming)
        case .volumeSupportsExclusiveRenaming: features?.contains(.exclusiveRenaming)
        case .volumeSupportsAccessPermissions: features?.contains(.permissions)
        default: nil
        }
    }
}
#endif
