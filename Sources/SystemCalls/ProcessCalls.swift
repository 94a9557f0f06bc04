import CLinux

/// The effective user number of this process: `geteuid(2)`, which cannot fail.
package func effectiveUser() -> UInt32 { geteuid() }

/// The processors this process may run on: `sched_getaffinity(2)`; at least 1.
package func availableProcessorCount() -> Int {
    max(Int(linux_available_processors()), 1)
}
