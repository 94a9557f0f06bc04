/// Returns a number with its noun, in the singular for 1: `1 item`, `2 items`.
///
/// - Parameter plural: the plural of the noun, where it is not the noun with an s.
package func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String
{
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a number of bytes for people, in powers of 1024: `512 B`, `4.0 KiB`, `12.3 MiB`.
package func sizeText(_ bytes: Int64) -> String {
    var text: [UInt8] = []
    appendSizeText(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
}

extension String {
    /// Returns the text with so many of a character before it that it is as wide as given, or wider.
    package func padded(to width: Int, with filler: String = " ") -> String {
        String(repeating: filler, count: max(width - count, 0)) + self
    }
}

/// Appends what ``sizeText(_:)`` returns, without a string.
package func appendSizeText(_ bytes: Int64, to text: inout [UInt8]) {
    guard bytes >= 1024 else {
        text.append(contentsOf: "\(bytes) B".utf8)
        return
    }
    var amount = Double(bytes)
    for unit: StaticString in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        amount /= 1024
        guard amount < 1023.95 || unit.utf8Start.pointee == UInt8(ascii: "P") else { continue }
        let rounded = Int((amount * 10).rounded())
        appendDecimal(rounded / 10, to: &text)
        text.append(UInt8(ascii: "."))
        appendDecimal(rounded % 10, to: &text)
        text.append(UInt8(ascii: " "))
        text.append(contentsOf: UnsafeBufferPointer(start: unit.utf8Start, count: 3))
        return
    }
}

/// Appends a number that is not negative, in decimal, without a string.
package func appendDecimal(_ number: Int, to text: inout [UInt8]) {
    let start = text.count
    var rest = UInt(number)
    repeat {
        text.append(UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
    } while rest > 0
    text[start...].reverse()
}
