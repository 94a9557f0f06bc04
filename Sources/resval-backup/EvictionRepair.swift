import BackupEngines
import CommandSupport
import Eviction
import SystemCalls
import SystemPackage

/// Files whose eviction or download was interrupted, after a repair.
struct RecoveredFiles {
    /// Those that are whole again.
    var whole: [EvictedFile] = []
    /// Those that lack parts of their content, which only their snapshot contains.
    var partial: [EvictedFile] = []
}

/// Repairs what interrupted evictions and downloads left, as far as that needs no repository.
func recoverFiles(in journal: Journal) throws -> RecoveredFiles {
    var recovered = RecoveredFiles()
    for file in try journal.contents().files where file.state != .evicted {
        do {
            switch try journal.recover(file) {
            case .settled: break
            case .whole:
                Messages.write(about: file.path, "is restored")
                recovered.whole.append(file)
            case .placeholder: Messages.write(about: file.path, "is evicted now")
            case .partial: recovered.partial.append(file)
            case .ordinary: Messages.warn(about: file.path.bytes, ordinary(file))
            case .gone: Messages.warn(about: file.path.bytes, gone(file))
            }
        } catch EvictionError.inUse {
            // Another process is working on the file.
        } catch {
            Messages.warn(
                about: file.path.bytes, EvictionError(error, at: file.path).sentence)
        }
    }
    return recovered
}

private func ordinary(_ file: EvictedFile) -> String {
    "was left alone: it has changed since its eviction or download was interrupted (its "
        + "content before is in snapshot \(file.snapshot.prefix(8)))"
}

private func gone(_ file: EvictedFile) -> String {
    "its eviction or download was interrupted, and it does not exist any more (if it "
        + "was moved: resval-backup download NEWPATH; its content is in snapshot "
        + "\(file.snapshot.prefix(8)))"
}
