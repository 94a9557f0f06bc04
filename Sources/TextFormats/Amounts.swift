/// Returns a number with its noun, in the singular for 1: `1 item`, `2 items`.
///
/// - Parameter plural: the plural of the noun, where it is not the noun with an s.
package func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String
{
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a number of bytes for people, in powers of 1024: `512 B`, `4.0 KiB`, `12.3 MiB`.
package func sizeText(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var amount = Double(bytes)
    for unit in ["KiB", "MiB", "GiB", "TiB"] {
        amount /= 1024
        if amount < 1023.95 { return "\(tenths(amount)) \(unit)" }
    }
    return "\(tenths(amount / 1024)) PiB"
}

private func tenths(_ amount: Double) -> String {
    let rounded = Int((amount * 10).rounded())
    return "\(rounded / 10).\(rounded % 10)"
}
