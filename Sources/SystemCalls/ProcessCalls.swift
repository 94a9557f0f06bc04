import CLinux

/// The effective user number of this process: `geteuid(2)`, which cannot fail.
package func effectiveUser() -> UInt32 { geteuid() }
