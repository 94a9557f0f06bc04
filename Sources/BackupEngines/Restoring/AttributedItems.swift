import SystemCalls

/// The items of a snapshot that have extended attributes, as its record tells them.
struct AttributedItems: RecordHandler {
    private var readOnly: Set<[UInt8]> = []
    private var digests: [[UInt8]: String?] = [:]
    private let sources: [[UInt8]]

    /// - Parameter sources: what the record is about.
    init(sources: [[UInt8]]) { self.sources = sources }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .readOnly(let path): readOnly.insert(path)
        case .attributes(let path, let digest): digests[path] = .some(digest)
        default: break
        }
    }

    /// The digest of an item's attributes: nil where the record knows of none, and nil within where it
    /// has no digest of them.
    func digest(of path: [UInt8]) -> String?? { digests[path] }

    /// Whether an item that its owner may not write to may have attributes that the record has no
    /// digest of: directories above the SOURCEs are not in it.
    func mayHold(_ path: [UInt8]) -> Bool {
        readOnly.contains(path) || !sources.contains { isHeld(path, by: $0) }
    }
}
