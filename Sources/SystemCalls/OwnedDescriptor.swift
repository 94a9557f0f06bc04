import SystemPackage

/// An open file or directory that is closed at the end of its owner's lifetime.
package struct OwnedDescriptor: ~Copyable {
    package let descriptor: FileDescriptor

    /// Takes ownership of an open descriptor.
    package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // Writes that must not be lost are synchronized, or the file is closed explicitly, before.
        closeIgnoringErrors(descriptor)
    }
}

/// An open file or directory with several owners, closed with the last reference to it.
package final class SharedDescriptor: Sendable {
    private let owned: OwnedDescriptor

    /// Takes ownership of an open descriptor.
    package init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    package var descriptor: FileDescriptor { owned.descriptor }
}
