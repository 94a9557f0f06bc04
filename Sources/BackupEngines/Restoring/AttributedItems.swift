import SystemCalls

/// The items of a snapshot that have extended attributes, from its record.
struct AttributedItems: RecordHandler {
    private var readOnly: Set<[UInt8]> = []
    private var digests: [[UInt8]: String?] = [:]
    private let sources: [[UInt8]]

    /// Creates an empty collection.
    ///
    /// - Parameter sources: the SOURCEs that the record covers.
    init(sources: [[UInt8]]) { self.sources = sources }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .readOnly(let path): readOnly.insert(path)
        case .attributes(let path, let digest): digests[path] = .some(digest)
        default: break
        }
    }

    /// Returns the digest of an item's attributes: nil when the record has no attributes of the
    /// item, an inner nil when it has no digest of them.
    func digest(of path: [UInt8]) -> String?? { digests[path] }

    /// Whether an item that its owner may not write to can have attributes without a digest in the
    /// record, which does not cover directories above the SOURCEs.
    func mayHold(_ path: [UInt8]) -> Bool {
        readOnly.contains(path) || !sources.contains { isHeld(path, by: $0) }
    }
}
