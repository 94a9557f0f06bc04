import SystemCalls

/// Returns a number of bytes for people, in powers of 1024: `512B`, `4.0K`, `12.3M`.
func sizeText(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(bytes)B" }
    var tenths = Double(bytes)
    for unit in ["K", "M", "G", "T", "P"] {
        tenths /= 1024
        if tenths < 1023.95 || unit == "P" {
            let rounded = Int((tenths * 10).rounded())
            return "\(rounded / 10).\(rounded % 10)\(unit)"
        }
    }
    return "\(bytes)B"
}

/// Returns how long ago a time was, for people: `45s`, `10m`, `23h`, `12d`.
func ageText(_ time: FileTime, now: FileTime) -> String {
    let seconds = max(0, now.seconds.subtractingSaturating(time.seconds))
    if seconds < 60 { return "\(seconds)s" }
    if seconds < 3600 { return "\(seconds / 60)m" }
    return seconds < 86400 ? "\(seconds / 3600)h" : "\(seconds / 86400)d"
}

/// Pads text with leading spaces to a width.
func aligned(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Returns a number of units with the noun.
func counted(_ units: Int) -> String { "\(units) \(units == 1 ? "unit" : "units")" }
