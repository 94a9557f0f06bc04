import SystemCalls
import SystemPackage

/// An open file or directory that closes itself.
struct OpenFile: ~Copyable {
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // All that is written here is checked before: times and attributes are set by then.
        try? closeFile(descriptor)
    }
}
