import SystemCalls
import SystemPackage

/// Returns the regions of an open regular file that contain data: `lseek(2)` with `SEEK_DATA` and
/// `SEEK_HOLE`.
///
/// - Returns: nil when the whole file contains data, or when the filesystem does not report holes.
///   A file that consists of one hole has an empty region at its start.
func dataRegions(
    of descriptor: FileDescriptor, _ status: FileStatus
) throws(Errno) -> [Range<Int64>]? {
    guard status.size > 0, status.allocatedSize < status.size else { return nil }
    var regions: [Range<Int64>] = []
    var offset: Int64 = 0
    do throws(Errno) {
        while offset < status.size,
            let start = try seekFile(descriptor, toNext: .data, from: offset), start < status.size
        {
            let hole = try seekFile(descriptor, toNext: .hole, from: start) ?? status.size
            offset = min(hole, status.size)
            guard offset > start else { break }
            regions.append(start..<offset)
        }
    } catch .invalidArgument {
        return nil
    }
    if regions == [0..<status.size] { return nil }
    return regions.isEmpty ? [0..<0] : regions
}
