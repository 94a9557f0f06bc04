/// Cuts a JSON array that arrives in pieces into its elements, so that only one is held at a time.
///
/// Elements are objects or arrays; single words and numbers at the top are passed over.
package struct JSONElements {
    /// The longest element that is held: 64 MiB.
    private static let longestElement = 64 << 20

    private var element: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var count = 0

    /// Begins with nothing read.
    package init() {}

    /// Adds bytes and calls `body` with each element that is now complete.
    ///
    /// - Throws: `JSONError` for an element beyond 64 MiB and for an end of what was not begun; what
    ///   `body` throws.
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

    /// Whether there was anything, and the array has ended.
    package var isComplete: Bool { count > 0 && depth == 0 && !isInString }

    private func opens(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    }

    private func closes(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Keeps track of strings; returns whether the byte belongs to one.
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
