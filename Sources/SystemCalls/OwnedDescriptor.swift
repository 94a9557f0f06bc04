import SystemPackage

/// An open file or directory that is closed when its owner goes.
package struct OwnedDescriptor: ~Copyable {
    package let descriptor: FileDescriptor

    /// Takes over an open descriptor.
    package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // What must not be lost is synchronized, or closed by hand, before.
        closeQuietly(descriptor)
    }
}

/// An open file or directory that has several owners, and is closed with the last reference to it.
package final class SharedDescriptor: Sendable {
    private let owned: OwnedDescriptor

    /// Takes over an open descriptor.
    package init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    package var descriptor: FileDescriptor { owned.descriptor }
}
