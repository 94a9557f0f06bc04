import ResourceValues
import SystemCalls
import SystemPackage

/// A directory below a restore's target, open while items are restored in it.
final class RestoredDirectory {
    /// The name in its parent directory; empty for the target.
    let name: [UInt8]
    /// The directory, open for reading.
    var descriptor: FileDescriptor { owned.descriptor }
    /// The metadata to set once everything in it is restored; nil for a directory that is not a
    /// restored item.
    var pending: (item: ManifestItem, attributes: [ExtendedAttribute])?
    private let owned: OwnedDescriptor

    /// Creates an object that owns a descriptor.
    ///
    /// - Parameter descriptor: closed with this object.
    init(name: [UInt8], _ descriptor: FileDescriptor) {
        self.name = name
        owned = OwnedDescriptor(descriptor)
    }
}
