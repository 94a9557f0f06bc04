import ResourceValues

@testable import BackupEngines
@testable import TextFormats

/// Reads any bytes as what restic answers and stores: never a crash, and a scanner always ends.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let nodes = try? TreeNode.reading(bytes) {
        // What is read lies in the text, with escapes that are never longer than they are there.
        precondition(nodes.reduce(0) { $0 + $1.name.count } <= bytes.count)
    }
    try? PackBlob.forEachPack(inIndex: bytes) { pack, blobs in
        precondition(pack.isResticIdentifier && blobs.allSatisfy { $0.identifier.utf8.count == 64 })
    }
    if let content = decompressed(bytes[...], limit: 1 << 16) {
        precondition(content.count <= 1 << 16)
    }
    var whole = JSONScanner(bytes[...])
    _ = try? whole.skipValue()
    var text = JSONScanner(bytes[...])
    if let string = try? text.string() { precondition(string.count <= bytes.count) }
    if let time = FileTime(rfc3339: bytes) { precondition(time.nanoseconds < 1_000_000_000) }
    return 0
}
