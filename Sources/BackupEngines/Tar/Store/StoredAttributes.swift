import ResourceValues
import SystemCalls

/// The extended attributes of a file, as far as this process may read them.
struct StoredAttributes {
    /// The attributes, sorted by name.
    private(set) var attributes: [ExtendedAttribute] = []
    /// Why some attributes are missing; nil when none is.
    private(set) var failure: FileError?

    init(of location: borrowing some FileLocation & ~Copyable) {
        do throws(FileError) {
            for name in try location.extendedAttributeNames() { add(name, of: location) }
        } catch {
            if error.code != .unsupportedFilesystem { failure = error }
        }
        attributes.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private mutating func add(
        _ name: ExtendedAttributeName, of location: borrowing some FileLocation & ~Copyable
    ) {
        do throws(FileError) {
            // Removed since the names were read.
            guard let value = try location.extendedAttribute(named: name) else { return }
            attributes.append(ExtendedAttribute(name: name.bytes, value: value))
        } catch {
            // Attributes of other namespaces may be unreadable for this user.
            guard name.bytes.starts(with: "user.".utf8) else { return }
            failure = error
        }
    }
}
