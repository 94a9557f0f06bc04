import ResourceValues

extension FileTime {
    /// Reads a time as RFC 3339 writes it, with `Z` or an offset, such as
    /// `2026-01-31T08:05:09.123456789+01:00`.
    ///
    /// - Returns: nil for anything else. Digits behind the nanoseconds are cut off.
    package init?(rfc3339 text: some Collection<UInt8>) {
        var reader = DigitReader(Array(text))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
            reader.take("-"), let day = reader.number(2), reader.take("T"),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2),
            reader.take(":"), let second = reader.number(2),
            let nanoseconds = reader.take(".") ? reader.fraction() : 0,
            let offset = reader.offset(), reader.isAtEnd,
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
        self.init(seconds: Int64(seconds), nanoseconds: UInt32(nanoseconds))
    }

    /// How far east of UTC a time in RFC 3339 form is noted, in seconds.
    ///
    /// - Returns: nil when the text does not end as such a time does.
    package static func offset(inRFC3339 text: [UInt8]) -> Int? {
        if text.last == UInt8(ascii: "Z") { return 0 }
        var reader = DigitReader(Array(text.suffix(6)))
        return reader.offset()
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from 1 March, so
/// that the leap day is a year's last.
package func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private struct DigitReader {
    private let bytes: [UInt8]
    private var next = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { next == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next < bytes.count, bytes[next] == UInt8(ascii: character) else { return false }
        next += 1
        return true
    }

    mutating func number(_ count: Int) -> Int? {
        guard bytes.count - next >= count else { return nil }
        var value = 0
        for byte in bytes[next..<(next + count)] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        next += count
        return value
    }

    mutating func fraction() -> Int? {
        var (value, digits) = (0, 0)
        while next < bytes.count, (0x30...0x39).contains(bytes[next]) {
            if digits < 9 { value = value * 10 + Int(bytes[next] - 0x30) }
            digits += 1
            next += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 9)..<9 { value *= 10 }
        return value
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
        if take("Z") { return 0 }
        let sign = take("-") ? -1 : 1
        guard sign == -1 || take("+"), let hours = number(2), take(":"), let minutes = number(2)
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
