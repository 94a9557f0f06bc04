import SystemCalls
import SystemPackage

// A file can change while an engine reads it. What was read is then whole all the same where it is
// what the file began with at one moment: of a log that grew, or a file that was only touched. Content
// that is on disk later as it was read was there when reading ended, since each part of it was there
// from when it was read to when it was looked at.

/// How much is read back to find out about files that changed, in bytes.
let largestProof: Int64 = 256 << 20
/// How many files are read back for that at most, each by a process of its own.
let mostProofs = 32
/// How much is stored a second time because it changed while it was read, in bytes.
let largestSecondTry: Int64 = 1 << 30

/// Compares the content a snapshot holds of a file with what the file begins with on disk.
struct BeginningComparison: OutputConsumer {
    private let file: SharedDescriptor
    private let buffer: Buffer
    /// How many bytes have come.
    private var offset: Int64 = 0
    private var isSame = true

    private final class Buffer: Sendable {
        // Only the one comparison that has the buffer touches it, and output comes to it in order.
        nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 1 << 16, alignment: 4096)
        deinit { bytes.deallocate() }
    }

    init(_ path: FilePath) throws(Errno) {
        let flags: FileDescriptor.OpenOptions = [.readOnly, .noFollow, .nonBlocking, .noTerminal]
        file = SharedDescriptor(try openFile(path.withoutFollowing, flags: flags))
        buffer = Buffer()
    }

    /// Whether the content had a size, in bytes, and the file begins with it.
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
        // The smallest first: the most files for what is read.
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
            // What cannot be read back is not known to be whole.
            return false
        }
    }
}
