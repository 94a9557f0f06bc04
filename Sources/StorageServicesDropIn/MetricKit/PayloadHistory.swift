#if !canImport(Darwin)
import EffectiveValues
import ResourceValuesDropIn
import StoragePolicy
import SystemCalls
import SystemPackage

/// The payloads of a program, in a state file: the newest is at most a day old, whichever process
/// made it.
struct PayloadHistory: Sendable {
    /// The file; nil where no directory for state is known.
    var path: FilePath?

    /// The most payloads that are kept.
    static let limit = 30

    /// The history of this program: `$XDG_STATE_HOME/resval/metrics/PROGRAM.jsonl`, where PROGRAM is
    /// ``ThisProgram/name``.
    static func usual() -> PayloadHistory {
        PayloadHistory(
            path: stateHome().map { home in
                let name = FilePath(bytes: ThisProgram.name + Array(".jsonl".utf8))
                return home.appending(stateDirectoryName).appending("metrics")
                    .pushing(name)
            })
    }

    /// Returns the payloads, oldest first; lines that are not payloads are skipped.
    func payloads() throws(FileError) -> [MXMetricPayload] {
        guard let path, let contents = try contentsOfStateFile(path, limit: Self.fileLimit) else {
            return []
        }
        return Self.payloads(in: contents)
    }

    /// Adds a payload, while no other process of the program does.
    ///
    /// - Parameter make: is given the newest payload, and returns the next; nil to add none.
    /// - Returns: what `make` returned. Also nil, and `make` is not called, if another process is
    ///   adding one.
    func add(
        _ make: (MXMetricPayload?) -> MXMetricPayload?
    ) throws(FileError) -> MXMetricPayload? {
        guard let path else { return make(nil) }
        try makeStateDirectory(path.removingLastComponent())
        guard let opened = try openStateFile(path, makingIt: true) else { return make(nil) }
        let file = OwnedDescriptor(opened)
        do throws(Errno) {
            guard try waitForLock(on: file.descriptor) else { return nil }
            let contents = try contents(
                ofOpen: file.descriptor, file.descriptor.status(), limit: Self.fileLimit)
            let before = Self.payloads(in: contents)
            guard let next = make(before.last) else { return nil }
            let lines = (before.suffix(Self.limit - 1) + [next]).map { payload in
                Array(payload.jsonRepresentation())
            }
            let bytes = lines.flatMap { $0 }
            try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
                try writeFile(file.descriptor, UnsafeRawBufferPointer(bytes), at: 0)
            }
            try setSize(Int64(bytes.count), of: file.descriptor)
            return next
        } catch {
            throw FileError(error, of: path)
        }
    }

    private static let fileLimit = 1 << 20

    private static func payloads(in contents: [UInt8]) -> [MXMetricPayload] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap { MXMetricPayload(json: $0) }
    }
}
#endif
