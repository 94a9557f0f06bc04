import FileTree
import SystemCalls
import SystemPackage

extension PurgeRules {
    /// What deleting the last name of an item frees, in bytes: its blocks, less those that other
    /// files share. Where that cannot be found out it is nothing.
    func freedBytes(_ entry: borrowing TreeEntry, _ status: FileStatus) -> Int64 {
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
