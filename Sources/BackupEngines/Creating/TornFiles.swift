import SystemCalls
import SystemPackage

// A file can change while an engine reads it. The content that was read is nevertheless a single
// version of the file if it is what the file began with at one moment: a log that only grew, or a
// file that was only touched. If the content as read is still on disk afterwards, it was there when
// reading ended, because each part of it was there from the time it was read until the comparison.

/// The most data that is read back to compare files that changed, in bytes.
let largestProof: Int64 = 256 << 20
/// The most files that are read back for comparison, each by a separate process.
let mostProofs = 32
/// The most data that is stored a second time because it changed while it was read, in bytes.
let largestSecondTry: Int64 = 1 << 30

/// Compares a file's content in a snapshot with the beginning of the file on disk.
struct BeginningComparison: OutputConsumer {
    private let file: SharedDescriptor
    private let buffer: Buffer
    /// The number of bytes received.
    private var offset: Int64 = 0
    private var isSame = true

    private final class Buffer: Sendable {
        // Only the comparison that owns the buffer uses it, and it receives output in order.
        nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 1 << 16, alignment: 4096)
        deinit { bytes.deallocate() }
    }

    init(_ path: FilePath) throws(Errno) {
        let flags: FileDescriptor.OpenOptions = [.readOnly, .noFollow, .nonBlocking, .noTerminal]
        file = SharedDescriptor(try openFile(path.withoutFollowing, flags: flags))
        buffer = Buffer()
    }

    /// Returns whether the received content has a size, in bytes, and the file begins with that
    /// content.
    func isBeginning(ofSize size: Int64) -> Bool { isSame && offset == size }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while isSame, !rest.isEmpty {
            let wanted = min(rest.count, buffer.bytes.count)
            do throws(Errno) {
                let count = try readFile(
                    file.descriptor, at: offset,
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<wanted]))
                isSame = count > 0 && rest.prefix(count).elementsEqual(buffer.bytes[..<count])
                rest = rest.dropFirst(count)
                offset += Int64(count)
            } catch {
                isSame = false
            }
        }
    }

    func finish() {}
}

extension Restic {
    package func torn(
        among changed: [SnapshotEntry], of identifier: String
    ) async throws(BackupError) -> [SnapshotEntry] {
        var torn: [SnapshotEntry] = []
        var left = largestProof
        // Smallest first, to check as many files as the limit allows.
        for (number, entry) in changed.sorted(by: { $0.size < $1.size }).enumerated() {
            if number < mostProofs, entry.size <= left {
                left -= entry.size
                if try await isBeginning(entry, of: identifier) { continue }
            }
            torn.append(entry)
        }
        return torn
    }

    private func isBeginning(
        _ entry: SnapshotEntry, of identifier: String
    ) async throws(BackupError) -> Bool {
        let path = FilePath(bytes: entry.path)
        let comparison: BeginningComparison
        do throws(Errno) {
            comparison = try BeginningComparison(path)
        } catch {
            return false
        }
        do throws(BackupError) {
            return try await readContent(of: path, in: identifier, with: comparison)
                .isBeginning(ofSize: entry.size)
        } catch  where error.code != .interrupted {
            // Content that cannot be read back is assumed to be torn.
            return false
        }
    }
}
