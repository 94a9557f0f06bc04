import ResourceValues
import SystemCalls
import SystemPackage

/// A directory below a restore's target, open while items are restored in it.
final class RestoredDirectory {
    /// The name in the directory above; empty for the target.
    let name: [UInt8]
    /// The directory, open for reading.
    var descriptor: FileDescriptor { owned.descriptor }
    /// What it is to become when everything in it is there; nil for one that no item tells of.
    var pending: (item: ManifestItem, attributes: [ExtendedAttribute])?
    private let owned: OwnedDescriptor

    /// - Parameter descriptor: closed with this object.
    init(name: [UInt8], _ descriptor: FileDescriptor) {
        self.name = name
        owned = OwnedDescriptor(descriptor)
    }
}
