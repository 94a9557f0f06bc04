import CLinux

/// The name of this machine, as restic notes it with a snapshot: `gethostname(2)`.
package func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    // Fails only for a buffer that is too small, and names have at most 64 bytes.
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
