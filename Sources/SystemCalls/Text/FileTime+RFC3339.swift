import CLinux

extension FileTime {
    /// The time in UTC, in RFC 3339 format, such as `2026-01-31T07:05:09.123456789Z`.
    ///
    /// RFC 3339 covers the years 0 to 9999. Times outside of them, which files may have, are
    /// written as date(1) and touch(1) accept them: `@` and seconds since 1970, such as
    /// `@253402300800.000000000`.
    package var rfc3339: String {
        guard hasYearOfFourDigits else {
            let isBefore = seconds < 0 && nanoseconds > 0
            let whole = isBefore ? seconds + 1 : seconds
            let part = isBefore ? 1_000_000_000 - nanoseconds : nanoseconds
            return "@\(whole).\(padded(Int(part), 9))"
        }
        let date = CalendarDate(secondsSince1970: seconds)
        return "\(text(of: date)).\(padded(Int(nanoseconds), 9))Z"
    }

    /// The time for people: to the second, in this machine's time zone and with its offset from UTC,
    /// such as `2026-01-31T08:05:09+01:00`, or `Z` for none. As ``rfc3339`` outside of the years 0 to 9999.
    package var localText: String {
        guard hasYearOfFourDigits else { return "@\(seconds)" }
        let date = CalendarDate(secondsSince1970: seconds, isLocal: true)
        let offset = Int(date.secondsSince1970 - seconds) / 60
        let zone = padded(abs(offset) / 60, 2) + ":" + padded(abs(offset) % 60, 2)
        return text(of: date) + (offset == 0 ? "Z" : (offset < 0 ? "-" : "+") + zone)
    }

    package var hasYearOfFourDigits: Bool {
        (-62_167_219_200..<253_402_300_800).contains(seconds)
    }

    private func text(of date: CalendarDate) -> String {
        let day = [padded(date.year, 4), padded(date.month, 2), padded(date.day, 2)]
        let clock = [date.hour, date.minute, date.second].map { padded($0, 2) }
        return day.joined(separator: "-") + "T" + clock.joined(separator: ":")
    }
}

private func padded(_ number: Int, _ width: Int) -> String {
    String(number).padded(to: width, with: "0")
}

extension FileTime {
    /// Parses a time in RFC 3339 format, with `Z` or an offset, such as
    /// `2026-01-31T08:05:09.123456789+01:00`. A leap second is read as the second after it. Also
    /// accepts the format of ``rfc3339`` for years without four digits: `@` and seconds since 1970
    /// with nine fractional digits.
    ///
    /// - Returns: nil for anything else. Digits beyond nanoseconds are discarded.
    package init?(rfc3339 text: some Collection<UInt8>) {
        var reader = DigitReader(Array(text))
        if reader.take("@") {
            guard let time = reader.time() else { return nil }
            self = time
            return
        }
        guard let date = reader.date(), reader.take("T"), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2),
            let nanoseconds = reader.take(".") ? reader.fraction() : 0,
            let offset = reader.offset(), reader.isAtEnd, hour <= 23, minute <= 59, second <= 60
        else { return nil }
        let seconds = date + Int64(hour * 3600 + minute * 60 + second - offset)
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
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

    /// Parses a calendar date and returns the start of that day, in seconds since 1970.
    mutating func date() -> Int64? {
        guard let year = number(4), take("-"), let month = number(2), take("-"),
            let day = number(2)
        else { return nil }
        let date = CalendarDate(year: year, month: month, day: day)
        let seconds = date.secondsSince1970
        return CalendarDate(secondsSince1970: seconds) == date ? seconds : nil
    }

    mutating func fraction() -> UInt32? {
        var (value, digits) = (0 as UInt32, 0)
        while next < bytes.count, (0x30...0x39).contains(bytes[next]) {
            if digits < 9 { value = value * 10 + UInt32(bytes[next] - 0x30) }
            digits += 1
            next += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 9)..<9 { value *= 10 }
        return value
    }

    mutating func offset() -> Int? {
        if take("Z") { return 0 }
        let sign = take("-") ? -1 : 1
        guard sign == -1 || take("+"), let hours = number(2), take(":"), let minutes = number(2),
            hours <= 23, minutes <= 59
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    /// Parses seconds since 1970, which may be negative, with nine fractional digits.
    mutating func time() -> FileTime? {
        let isNegative = take("-")
        let digits = bytes[next...].prefix { $0 != UInt8(ascii: ".") }
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let whole = UInt64(String(decoding: digits, as: UTF8.self))
        else { return nil }
        next = digits.endIndex
        guard take("."), bytes.count - next == 9, let part = fraction(), isAtEnd else { return nil }
        // A FileTime's nanoseconds count forward from the preceding whole second.
        let isBefore = isNegative && part > 0
        let seconds = (isNegative ? -Int128(whole) : Int128(whole)) - (isBefore ? 1 : 0)
        return Int64(exactly: seconds).map {
            FileTime(seconds: $0, nanoseconds: isBefore ? 1_000_000_000 - part : part)
        }
    }
}

/// A date and time of day in UTC, to the second, in the proleptic Gregorian calendar.
package struct CalendarDate: Sendable, Hashable {
    /// The astronomical year: year 0 precedes year 1.
    package var year: Int
    /// The month, from 1.
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    /// Creates a date from its components, which are not checked; see ``secondsSince1970``.
    package init(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Creates the date of a time: `gmtime_r(3)`. Times more than about 1,100 million years from
    /// 1970 are clamped.
    ///
    /// - Parameter isLocal: whether to create the date in this machine's time zone: `localtime_r(3)`.
    package init(secondsSince1970 seconds: Int64, isLocal: Bool = false) {
        var clock = time_t(min(max(seconds, -Self.farthest), Self.farthest))
        var parts = tm()
        // Fails only for years that do not fit in 32 bits.
        _ = isLocal ? localtime_r(&clock, &parts) : gmtime_r(&clock, &parts)
        self.init(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
    }

    /// The date's time in seconds since 1970: `timegm(3)`. Components out of range carry over: the
    /// 31st of February is the 2nd or 3rd of March.
    package var secondsSince1970: Int64 {
        var parts = tm()
        parts.tm_year = CInt(clamping: year.subtractingSaturating(1900))
        parts.tm_mon = CInt(clamping: month.subtractingSaturating(1))
        parts.tm_mday = CInt(clamping: day)
        parts.tm_hour = CInt(clamping: hour)
        parts.tm_min = CInt(clamping: minute)
        parts.tm_sec = CInt(clamping: second)
        return Int64(timegm(&parts))
    }

    private static let farthest: Int64 = 1 << 55
}
