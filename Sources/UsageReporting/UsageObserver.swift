import FileTree
import SystemCalls

/// Receives each item while usage is measured. Each thread has its own.
package protocol UsageObserver {
    /// Called for a directory before its entries.
    mutating func note(directory: borrowing TreeEntry, _ status: FileStatus, number: UInt32)

    /// Called for any other item, in the directory of that number.
    mutating func note(file: borrowing TreeEntry, _ status: FileStatus, in directory: UInt32)

    /// Called once, after the thread's last item.
    mutating func finish()
}
