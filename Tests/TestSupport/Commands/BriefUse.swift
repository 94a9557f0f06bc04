import SystemPackage

/// Has a process open a file or directory, and closes it 100 ms later.
///
/// - Parameter locks: whether it is locked, too: `flock(2)`.
package func useBriefly(_ path: FilePath, locks: Bool = false) throws {
    let script = """
        import fcntl, os, sys, time
        file = os.open(sys.argv[1], os.O_RDONLY)
        if sys.argv[2] == "true": fcntl.flock(file, fcntl.LOCK_EX)
        if os.fork() == 0:
            for descriptor in 0, 1, 2: os.close(descriptor)
            time.sleep(0.1)
        os._exit(0)
        """
    try tool("python3", "-c", script, path, "\(locks)")
}
