import SystemCalls
import SystemPackage

extension PurgeRules {
    /// Returns how many bytes removing the last hard link of an item frees: its blocks, except
    /// those shared with other files; 0 when that cannot be determined.
    func freedBytes(
        _ entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus
    ) -> Int64 {
        guard mayShareExtents, status.kind == .regularFile, status.allocatedSize > 0 else {
            return status.allocatedSize
        }
        do throws(Errno) {
            guard let extents = try fileExtents(of: entry, size: status.size) else { return 0 }
            return max(0, status.allocatedSize - extents.sharedBytes)
        } catch {
            return 0
        }
    }
}
