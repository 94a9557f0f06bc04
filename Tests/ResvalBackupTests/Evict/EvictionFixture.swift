import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport

/// Content that is long enough to be evicted.
let evictableContent = Array(repeating: Array("0123456789abcdef".utf8), count: 20_000)
    .flatMap { $0 }

/// A SOURCE with one file to evict.
let oneFile = Tree { File("file", evictableContent).purgeable() }

func isPlaceholder(_ path: FilePath) throws -> Bool {
    let status = try path.status()
    return status.permissions == 0 && status.allocatedSize <= 4096
}

extension FilePath {
    /// The names of the attributes that are records of evicted files.
    func evictionNames() throws -> [String] {
        try extendedAttributeNames().map { "\($0)" }
            .filter { $0.hasPrefix("user.resval.evicted.") }
    }
}
