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
