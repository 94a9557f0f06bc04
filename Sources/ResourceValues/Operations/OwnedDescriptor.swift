import SystemCalls
import SystemPackage

/// An open file that is closed when its owner goes.
struct OwnedDescriptor: ~Copyable {
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    // What must not be lost is synchronized or closed by hand before.
    deinit { try? closeFile(descriptor) }
}
