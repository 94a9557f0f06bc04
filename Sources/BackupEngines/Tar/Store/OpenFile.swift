import SystemCalls
import SystemPackage

/// A file that is open for reading, and closed with this object.
final class OpenFile: Sendable {
    /// The file; valid as long as this object lives.
    let descriptor: FileDescriptor

    /// Takes over an open descriptor.
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // Only read from: there is nothing that closing could lose.
        closeQuietly(descriptor)
    }
}
