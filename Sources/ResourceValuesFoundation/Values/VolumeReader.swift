#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import SystemPackage

struct VolumeReader {
    private let target: CallTarget
    private var knownFilesystem: FilesystemStatus?
    private var knownVolume: Volume??
    private var knownUsageCapacity: UsageCapacity??

    init(_ target: CallTarget) { self.target = target }

    /// Whether something was read that only an existing item has.
    var hasReachedItem: Bool { knownFilesystem != nil || (knownVolume ?? nil) != nil }

    /// Returns the value of a key; nil for keys that do not concern a volume.
    ///
    /// - Parameter item: the reader of the item's status, which few keys need.
    mutating func value(
        _ key: KnownKey, _ item: inout StatusReader
    ) throws -> PropertyValue? {
        switch key {
        case .volumeIdentifier:
            .object(identifier(try volume()?.mount.device ?? item.status().identity.device))
        case .volumeSupportsImmutableFiles: .boolean(try item.status().knowsImmutable)
        case .volumeSupportsVolumeSizes: .boolean(try filesystem().blocks > 0)
        case .volumeIsReadOnly: .boolean(try filesystem().isReadOnly)
        case .volumeResourceCount: try resourceCount().map { .integer($0) }
        case .volumeTotalCapacity: try capacity().map { .integer(Int($0.total)) }
        case .volumeAvailableCapacity: try capacity().map { .integer(Int($0.available)) }
        case .volumeAvailableCapacityForImportantUsage:
            try usageCapacity(item.status()).map { .integer(Int($0.important)) }
        case .volumeAvailableCapacityForOpportunisticUsage:
            try usageCapacity(item.status()).map { .integer(Int($0.opportunistic)) }
        case .volumeMountFromLocation: source.map { .text($0) }
        default: volume()?.value(key)
        }
    }

    /// Returns the volume, which is looked for once; nil where the mount cannot be determined.
    mutating func volume() -> Volume? {
        if let knownVolume { return knownVolume }
        let volume = KnownVolumes.volume(holding: target)
        knownVolume = .some(volume)
        return volume
    }

    private mutating func filesystem() throws(Errno) -> FilesystemStatus {
        if let knownFilesystem { return knownFilesystem }
        let filesystem = try filesystemStatus(of: target)
        knownFilesystem = filesystem
        return filesystem
    }

    private mutating func capacity() throws(Errno) -> VolumeCapacity? {
        VolumeCapacity(try filesystem())
    }

    private mutating func usageCapacity(_ status: FileStatus) throws(Errno) -> UsageCapacity? {
        if let knownUsageCapacity { return knownUsageCapacity }
        let usage = try capacity().map {
            UsageCapacity($0, purgeable: recordedPurgeableBytes(onDevice: status.identity.device))
        }
        knownUsageCapacity = .some(usage)
        return usage
    }

    private mutating func resourceCount() throws(Errno) -> Int? {
        let filesystem = try filesystem()
        guard filesystem.files > 0 else { return nil }
        return Int(clamping: filesystem.files - min(filesystem.freeFiles, filesystem.files))
    }

    /// The source, which can change while a filesystem is mounted.
    private var source: String? {
        KnownVolumes.volumeRead(holding: target).flatMap {
            String(validating: $0.mount.source, as: UTF8.self)
        }
    }

}

/// Returns an identifier that equals another one if all numbers are equal.
func identifier(_ numbers: UInt64...) -> NSData {
    NSData(data: numbers.withUnsafeBytes { Data($0) })
}

extension Volume {
    /// Returns the value of a key that the volume determines; nil for other keys.
    func value(_ key: KnownKey) -> PropertyValue? {
        switch key {
        case .volumeURL: URL(bytesOf: mount.mountPoint, isDirectory: true).map { .object($0) }
        case .volumeName, .volumeLocalizedName: name.map { .text($0) }
        case .volumeTypeName, .volumeLocalizedFormatDescription: .text(mount.filesystemType)
        case .volumeUUIDString: uuid.map { .text($0) }
        case .volumeIsRootFileSystem: .boolean(mount.mountPoint == "/")
        case .volumeIsLocal: isLocal.map { .boolean($0) }
        case .volumeIsEncrypted: isEncrypted.map { .boolean($0) }
        case .volumeIsRemovable: isRemovable.map { .boolean($0) }
        case .volumeSupportsFileCloning: canClone.map { .boolean($0) }
        case .volumeSupportsFileProtection:
            canStore(StoredKey.fileProtection.attribute).map { .boolean($0) }
        default: nil
        }
    }

    private var name: String? {
        if let label { return String(validating: label, as: UTF8.self) }
        return mount.mountPoint.lastComponent.map { FilePath(root: nil, components: $0).text }
            ?? "/"
    }
}
#endif
