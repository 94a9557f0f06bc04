import ResourceValues
import SystemPackage

/// The file name of a record in the journal: inode and device, each in 16 hexadecimal digits.
struct RecordName: Sendable, Hashable {
    let identity: FileIdentity

    init(_ identity: FileIdentity) { self.identity = identity }

    /// Parses a file name; nil if it is not that of a record.
    init?(_ name: some Collection<UInt8>) {
        let parts = name.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 16 }),
            let inode = UInt64(String(decoding: parts[0], as: UTF8.self), radix: 16),
            let device = UInt64(String(decoding: parts[1], as: UTF8.self), radix: 16)
        else { return nil }
        identity = FileIdentity(device: device, inode: inode)
        guard text.utf8.elementsEqual(name) else { return nil }
    }

    private var text: String { "\(padded(identity.inode))-\(padded(identity.device))" }

    /// The name as a path relative to the journal's directory.
    var path: FilePath { FilePath(text) }

    /// The 64-bit FNV-1a hash of the name. A collision is rare, and makes two records share one lock.
    var hash: UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
    }
}

private func padded(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
