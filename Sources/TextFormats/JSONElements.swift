/// Splits a JSON array that arrives in chunks into its elements and keeps only one in memory.
///
/// Elements are objects or arrays; other values at the top level are skipped.
package struct JSONElements {
    /// The longest element that is accepted, in bytes: 64 MiB.
    private static let longestElement = 64 << 20

    private var element: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var count = 0

    /// Creates a splitter at the start of the array.
    package init() {}

    /// Appends bytes and calls `body` with each element that they complete.
    ///
    /// - Throws: `JSONError` for an element longer than 64 MiB and for an unmatched closing
    ///   bracket; what `body` throws.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (ArraySlice<UInt8>) throws(JSONError) -> Void
    ) throws(JSONError) {
        for byte in bytes {
            count += 1
            if depth > 1 || (depth == 1 && opens(byte)) { element.append(byte) }
            guard element.count <= Self.longestElement else { throw JSONError(offset: count) }
            guard !takeInString(byte) else { continue }
            if opens(byte) { depth += 1 }
            if closes(byte) {
                depth -= 1
                guard depth >= 0 else { throw JSONError(offset: count) }
                guard depth == 1 else { continue }
                try body(element[...])
                element.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Whether any bytes were read and the array is closed.
    package var isComplete: Bool { count > 0 && depth == 0 && !isInString }

    private func opens(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    }

    private func closes(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Tracks strings; returns whether the byte belongs to one.
    private mutating func takeInString(_ byte: UInt8) -> Bool {
        guard isInString else {
            isInString = byte == UInt8(ascii: "\"")
            return isInString
        }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
        return true
    }
}

/// An error for text that is not the expected JSON.
package struct JSONError: Error, Hashable {
    /// The offset in bytes at which reading stopped.
    package let offset: Int

    /// Creates an error at an offset.
    package init(offset: Int) { self.offset = offset }
}
