import SystemCalls

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
