import CLinux
import SystemPackage

/// A trigger on a file of pressure stall information: an event each time that tasks were stalled
/// for longer than the limit in one window.
///
/// The kernel removes the trigger when it is closed.
package struct PressureTrigger: ~Copyable {
    private let file: OwnedDescriptor

    /// Sets a trigger: `openat(2)`, and `write(2)` of its description.
    ///
    /// - Parameters:
    ///   - path: the file, such as `/proc/pressure/memory`.
    ///   - isFull: whether all tasks must be stalled at the same time, rather than some.
    ///   - stall: the limit.
    ///   - window: the window, from half a second to ten seconds; without privileges
    ///     (`CAP_SYS_RESOURCE`) a multiple of two seconds.
    /// - Throws: `ENOENT` for a kernel without the information, `EOPNOTSUPP` where it is switched
    ///   off, `EPERM` or `EINVAL` for a user that may not set this trigger (before Linux 6.4 none
    ///   but root), `EACCES`, and others.
    package init(
        _ path: FilePath, isFull: Bool, stall: Duration, window: Duration
    ) throws(Errno) {
        let opened = OwnedDescriptor(
            try openFile(
                in: .workingDirectory, path, flags: [.readWrite, .nonBlocking, .noTerminal],
                permissions: 0))
        let microseconds = [stall, window].map { Int($0 / .microseconds(1)) }
        let text = "\(isFull ? "full" : "some") \(microseconds[0]) \(microseconds[1])\0"
        // One call: the kernel parses each write by itself.
        try writeFile(opened.descriptor, Array(text.utf8))
        file = opened
    }

    /// Waits for the next event: `poll(2)` for `POLLPRI`.
    ///
    /// - Throws: `ENODEV` when the source of events has gone.
    package borrowing func wait() throws(Errno) {
        _ = try perform(.poll) { linux_wait_for_event(file.descriptor.rawValue) }
    }
}
