import ResourceValues
import SystemCalls
import SystemPackage

@testable import BackupEngines

/// Reads any bytes as a line of a manifest, as the config of a repository, and as a file's name:
/// never a crash, and no path that leads up.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzManifest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let line = try? ManifestLine(reading: bytes[...]), case .item(let item) = line {
        precondition(item.path.first == UInt8(ascii: "/"))
        precondition(!item.archivePath.isEmpty)
        if let names = RelativePath(absolute: item.path)?.names {
            precondition(names.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: "/")) })
            precondition(!names.contains(Array("..".utf8)))
        }
    }
    try? TarConfig.check(bytes, path: "config")
    if let identifier = TarNames.snapshot(ofManifest: bytes) {
        precondition(TarNames.manifest(identifier).bytes == bytes)
        precondition(!TarNames.isUnfinished(bytes))
    }
    return 0
}
