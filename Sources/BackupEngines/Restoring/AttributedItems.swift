import SystemCalls

/// The items of a snapshot that their owner may not write to and that have extended attributes.
struct AttributedItems: RecordHandler {
    private var paths: Set<[UInt8]> = []
    private let sources: [[UInt8]]

    /// - Parameter sources: what the record is about.
    init(sources: [[UInt8]]) { self.sources = sources }

    mutating func receive(_ line: RecordLine) {
        if case .readOnly(let path) = line { paths.insert(path) }
    }

    /// Whether an item may be one: directories above the SOURCEs are not in the record.
    func mayHold(_ path: [UInt8]) -> Bool {
        paths.contains(path) || !sources.contains { isHeld(path, by: $0) }
    }
}
