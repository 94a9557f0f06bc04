import CZstd

/// Returns the content of compressed bytes (RFC 8878); nil if they are damaged, or the content is
/// longer than the limit, in bytes.
func decompressed(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
    bytes.withUnsafeBytes { source in
        // Without a size, the content may be as long as the limit.
        let size = ZSTD_getFrameContentSize(source.baseAddress, source.count)
        let capacity = size == .max ? limit : Int(clamping: size)
        guard capacity <= limit else { return nil }
        var isWhole = false
        let content = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let result = ZSTD_decompress(
                buffer.baseAddress, capacity, source.baseAddress, source.count)
            isWhole = ZSTD_isError(result) == 0
            count = isWhole ? result : 0
        }
        return isWhole ? content : nil
    }
}
