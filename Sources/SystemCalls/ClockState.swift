import CLinux
import SystemPackage

/// Whether the kernel knows that something keeps its clock right, such as NTP: `adjtimex(2)`, which
/// is asked and told nothing, without `STA_UNSYNC`.
package func isClockSynchronized() throws(Errno) -> Bool {
    var flags: CInt = 0
    _ = try perform(.adjtimex) { linux_get_clock_flags(&flags) }
    return flags & STA_UNSYNC == 0
}
