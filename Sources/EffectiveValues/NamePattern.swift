/// A shell pattern for one name: `*`, `?`, `[…]`, and backslash to quote the next byte.
///
/// Where the meaning of a pattern is in doubt it matches, because matching items are kept: `*`
/// matches a leading dot, and a set matches any non-ASCII character.
package struct NamePattern: Sendable, Hashable {
    private enum Element: Sendable, Hashable {
        case byte(UInt8)
        case anyCharacter
        case anyName
        case set(Set<UInt8>, isNegated: Bool)

        /// The byte that it matches; nil when it matches more than one.
        var onlyByte: UInt8? {
            if case .byte(let byte) = self { byte } else { nil }
        }
    }

    private let elements: [Element]
    /// Whether `?` and sets match single bytes, and no more than they say.
    private let matchesBytes: Bool
    /// The byte that every matching name begins or ends with; nil when that can be any.
    private let first: UInt8?
    private let last: UInt8?

    /// - Parameter matchesBytes: whether `?` and sets match single bytes, and no more than they say.
    package init(_ pattern: some Sequence<UInt8>, matchesBytes: Bool = false) {
        self.matchesBytes = matchesBytes
        let bytes = Array(pattern)
        var elements: [Element] = []
        var next = 0
        while next < bytes.count {
            let byte = bytes[next]
            next += 1
            switch byte {
            case UInt8(ascii: "*"): if elements.last != .anyName { elements.append(.anyName) }
            case UInt8(ascii: "?"): elements.append(.anyCharacter)
            case UInt8(ascii: "\\") where next < bytes.count:
                elements.append(.byte(bytes[next]))
                next += 1
            case UInt8(ascii: "["):
                if let (set, end) = Self.set(bytes, from: next) {
                    elements.append(set)
                    next = end
                } else {
                    elements.append(.byte(byte))
                }
            default: elements.append(.byte(byte))
            }
        }
        self.elements = elements
        first = elements.first?.onlyByte
        last = elements.last?.onlyByte
    }

    /// Three consecutive bytes that occur in every matching name; nil when the pattern has none.
    package var requiredBytes: [UInt8]? {
        var bytes: [UInt8] = []
        for element in elements {
            guard case .byte(let byte) = element else {
                bytes = []
                continue
            }
            bytes.append(byte)
            if bytes.count == 3 { return bytes }
        }
        return nil
    }

    /// Whether a pattern contains no special characters and so matches one name only.
    package static func isLiteral(_ pattern: some Sequence<UInt8>) -> Bool {
        !pattern.contains { "*?[\\".utf8.contains($0) }
    }

    package func matches(_ name: [UInt8]) -> Bool {
        name.withUnsafeBytes { matches($0) }
    }

    /// Whether the pattern matches a whole name.
    package func matches(_ name: ArraySlice<UInt8>) -> Bool {
        name.withUnsafeBytes { matches($0) }
    }

    package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        // Most names that do not match show it here.
        if let first, name.first != first { return false }
        if let last, name.last != last { return false }
        var (element, position) = (0, 0)
        // Where to resume when the part after the last star does not match: the star takes one byte
        // more.
        var retry: (element: Int, position: Int)?
        while position < name.count || element < elements.count {
            if element < elements.count, case .anyName = elements[element] {
                retry = (element, position + 1)
                element += 1
                continue
            }
            if element < elements.count, position < name.count,
                let width = width(of: elements[element], in: name, at: position)
            {
                element += 1
                position += width
                continue
            }
            guard let last = retry, last.position <= name.count else { return false }
            retry = (last.element, last.position + 1)
            (element, position) = (last.element + 1, last.position)
        }
        return true
    }

    /// Returns how many bytes of a name an element matches; nil when it does not match.
    private func width(
        of element: Element, in name: UnsafeRawBufferPointer, at position: Int
    ) -> Int? {
        let byte = name[position]
        switch element {
        case .byte(let wanted): return byte == wanted ? 1 : nil
        case .anyCharacter: return matchesBytes ? 1 : characterWidth(name[position...])
        case .anyName: return nil
        case .set(let bytes, let isNegated):
            if byte >= 0x80, !matchesBytes { return characterWidth(name[position...]) }
            return bytes.contains(byte) != isNegated ? 1 : nil
        }
    }

    /// Parses a set after its opening bracket; nil when the closing bracket is missing.
    private static func set(_ bytes: [UInt8], from start: Int) -> (Element, end: Int)? {
        var next = start
        var isNegated = false
        if next < bytes.count, bytes[next] == UInt8(ascii: "!") || bytes[next] == UInt8(ascii: "^")
        {
            isNegated = true
            next += 1
        }
        let first = next
        var set: Set<UInt8> = []
        while next < bytes.count, bytes[next] != UInt8(ascii: "]") || next == first {
            let hasRange = next + 2 < bytes.count && bytes[next + 1] == UInt8(ascii: "-")
            if hasRange, bytes[next + 2] != UInt8(ascii: "]"), bytes[next] <= bytes[next + 2] {
                set.formUnion(bytes[next]...bytes[next + 2])
                next += 3
            } else {
                set.insert(bytes[next])
                next += 1
            }
        }
        return next < bytes.count ? (.set(set, isNegated: isNegated), next + 1) : nil
    }
}

/// Returns the length of the UTF-8 character at the start of the bytes; 1 when there is none.
private func characterWidth(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    guard let first = bytes.first, first >= 0xC0 else { return 1 }
    let width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    let rest = bytes.dropFirst().prefix(width - 1)
    return rest.count == width - 1 && rest.allSatisfy { $0 & 0xC0 == 0x80 } ? width : 1
}
