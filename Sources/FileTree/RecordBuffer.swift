/// Memory that directories are read into, 64 KiB.
///
/// A class, since Swift 6.3's optimiser forgets the deinit of a generic noncopyable structure.
final class RecordBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 8)

    deinit { bytes.deallocate() }
}
