import Synchronization

@testable import Backups

/// Reads any bytes as a tar archive of restic's: never a crash, no more content than there are bytes,
/// and the same files however the bytes arrive. Checksums are made right first, or no input would
/// come beyond the first header.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzPax(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for archive in [bytes, withChecksums(bytes)] {
        let whole = read(archive, by: .max)
        precondition(whole.files.reduce(0) { $0 + $1.content.count } <= archive.count)
        precondition(
            whole.files.allSatisfy { $0.path.first == UInt8(ascii: "/") && !$0.path.contains(0) })
        // Only the last file may be cut.
        precondition(whole.files.dropLast().allSatisfy(\.isFinished))
        precondition(!whole.isComplete || whole.files.allSatisfy(\.isFinished))
        for size in [1, 511, 513] { precondition(read(archive, by: size) == whole) }
    }
    return 0
}

private struct Reading: Equatable {
    struct File: Equatable {
        var path: [UInt8]
        var content: [UInt8] = []
        var isFinished = false
    }

    var files: [File] = []
    var isComplete = false
}

private final class Files: Sendable {
    let all = Mutex<[Reading.File]>([])
}

private struct Consumer: OutputConsumer {
    let files: Files

    func receive(_ bytes: UnsafeRawBufferPointer) {
        files.all.withLock { $0[$0.count - 1].content += bytes }
    }

    func finish() {
        files.all.withLock { $0[$0.count - 1].isFinished = true }
    }
}

private func read(_ archive: [UInt8], by size: Int) -> Reading {
    let files = Files()
    var stream = PaxStream { path in
        files.all.withLock { $0.append(Reading.File(path: path)) }
        return Consumer(files: files)
    }
    var reading = Reading()
    archive.withUnsafeBytes { bytes in
        var rest = bytes[...]
        do throws(BackupError) {
            while !rest.isEmpty {
                try stream.receive(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            try stream.finish()
            reading.isComplete = true
        } catch {
            // Damaged, or cut.
        }
    }
    reading.files = files.all.withLock { $0 }
    return reading
}

/// Makes each block that has the magic of a header one with the checksum that it must have.
private func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for start in stride(from: 0, to: bytes.count - 511, by: 512)
    where bytes[(start + 257)..<(start + 262)].elementsEqual("ustar".utf8) {
        bytes.replaceSubrange((start + 148)..<(start + 156), with: "        ".utf8)
        let sum = bytes[start..<(start + 512)].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8).utf8
        bytes.replaceSubrange((start + 148)..<(start + 148 + digits.count), with: digits)
    }
    return bytes
}
