import CLinux
import SystemCalls
import SystemPackage

/// The processes that can be looked at through `/proc`.
///
/// Root sees all of them; others see their own, without those that hide (a key agent). A process whose
/// open files cannot be seen keeps nothing: leases tell of its files, whoever runs it.
enum RunningProcesses {
    /// Throws `processInside` when a process works in one of some directories, has it as its root, or
    /// has it open; `untestable` where not even this process can be looked at.
    static func requireOutside(_ directories: Set<FileIdentity>) throws(KeepReason) {
        var processes: [FilePath] = []
        do throws(Errno) {
            let own = FilePath("/proc/self")
            _ = try own.appending("cwd").status()
            _ = try own.appending("fd").status()
            try forEachName(in: FilePath("/proc")) { name in
                let isNumber = name.allSatisfy {
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                }
                if isNumber { processes.append(FilePath(bytes: Array("/proc/".utf8) + name)) }
                return true
            }
        } catch {
            throw .untestable(error)
        }
        for process in processes where isInside(directories, process) { throw .processInside }
    }

    private static func isInside(_ directories: Set<FileIdentity>, _ process: FilePath) -> Bool {
        let places = ["cwd", "root"].map { process.appending($0) }
        if places.contains(where: { leads($0, to: directories) }) { return true }
        let descriptors = process.appending("fd")
        var isInside = false
        do throws(Errno) {
            try forEachName(in: descriptors) { name in
                isInside = leads(descriptors.pushing(FilePath(bytes: name)), to: directories)
                return !isInside
            }
        } catch {
            // The process ended, or is somebody else's.
            return isInside
        }
        return isInside
    }

    private static func leads(_ link: FilePath, to directories: Set<FileIdentity>) -> Bool {
        do throws(Errno) {
            return directories.contains(try link.status().identity)
        } catch {
            // It was closed, the process ended, or is somebody else's.
            return false
        }
    }
}
