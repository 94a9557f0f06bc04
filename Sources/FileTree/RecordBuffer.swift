/// A buffer of 64 KiB that directories are read into.
///
/// A class, since Swift 6.3's optimiser omits the deinit of a generic noncopyable structure.
final class RecordBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 8)

    deinit { bytes.deallocate() }
}
