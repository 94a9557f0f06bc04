import CNettle
import SystemCalls
import SystemPackage

package struct SHA256: Sendable {
    private var state = sha256_ctx()
    package private(set) var count: Int64 = 0

    package init() { nettle_sha256_init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        nettle_sha256_update(
            &state, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        count += Int64(bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Returns the digest of all bytes so far, in hexadecimal.
    package func finish() -> String {
        var state = state
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
        nettle_sha256_digest(&state, digest.count, &digest)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}

package struct ContentHash: Sendable, Hashable {
    package let hexadecimal: String

    package init(_ sum: SHA256) { hexadecimal = sum.finish() }

    package init(of content: some Sequence<UInt8>) {
        var sum = SHA256()
        sum.update(Array(content))
        self.init(sum)
    }

    /// Creates a hash from 64 lowercase hexadecimal digits; nil for anything else.
    package init?(hexadecimal text: some Collection<UInt8>) {
        guard text.count == 64, text.allSatisfy("0123456789abcdef".utf8.contains) else {
            return nil
        }
        hexadecimal = String(decoding: text, as: UTF8.self)
    }
}

extension ContentHash {
    /// Reads an open file's content; nil when the work was stopped.
    ///
    /// - Parameters:
    ///   - limit: no more is read once there are more bytes than these: the file may grow all the time.
    ///   - shouldStop: called before each read; returning true stops the work.
    init?(
        of descriptor: FileDescriptor, upTo limit: Int64 = .max, shouldStop: () -> Bool
    ) throws(Errno) {
        var sum = SHA256()
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { chunk.deallocate() }
        while !shouldStop() {
            let count = try readFile(descriptor, at: sum.count, into: chunk)
            if count == 0 || sum.count > limit {
                self.init(sum)
                return
            }
            sum.update(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
        return nil
    }
}
