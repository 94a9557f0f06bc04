import Glibc
import SystemCalls
import SystemPackage

extension FilesystemKind {
    /// What keeps this machine from mounting such a filesystem; nil when nothing does.
    ///
    /// Found by mounting one of every kind, once.
    var shortfall: String? { shortfalls[self] }

    fileprivate func probe() -> String? {
        guard geteuid() == 0 else { return "\(kernelName) needs root to mount it" }
        for tool in ["mount", "umount", maker?.first].compactMap(\.self)
        where FilePath.tool(tool) == nil {
            return "needs \(tool): scripts/install-dependencies --for-tests"
        }
        do {
            try cleaningUp { _ = try newFilesystem(self) }
            return nil
        } catch {
            return "cannot mount \(kernelName): \(error)"
        }
    }
}

private let shortfalls: [FilesystemKind: String] = FilesystemKind.allCases.reduce(into: [:]) {
    $0[$1] = $1.probe()
}
