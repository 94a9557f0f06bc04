import Glibc
import Synchronization
import SystemCalls
import SystemPackage

extension FilesystemKind {
    /// What keeps this machine from mounting such a filesystem; nil when nothing does.
    ///
    /// Found by mounting one, once for each kind.
    var shortfall: String? {
        probed.withLock { known in
            if let answer = known[self] { return answer }
            let answer = probe()
            known[self] = .some(answer)
            return answer
        }
    }

    private func probe() -> String? {
        guard geteuid() == 0 else { return "\(kernelName) needs root to mount it" }
        for tool in ["mount", "umount", maker?.first].compactMap(\.self)
        where FilePath.tool(tool) == nil {
            return "needs \(tool): scripts/install-dependencies"
        }
        do {
            try mountAndCall(kind: self, options: []) { _ in }
            return nil
        } catch {
            return "cannot mount \(kernelName): \(error)"
        }
    }
}

private let probed = Mutex<[FilesystemKind: String?]>([:])
