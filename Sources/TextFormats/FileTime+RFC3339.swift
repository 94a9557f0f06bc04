import SystemCalls

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
        return "\(dateAndTime).\(padded(Int(nanoseconds), 9))Z"
    }

    /// The time in the format of ``rfc3339``, without the fraction of a second.
    package var rfc3339ToTheSecond: String {
        hasYearOfFourDigits ? "\(dateAndTime)Z" : "@\(seconds)"
    }

    /// Whether the year is from 0 to 9999.
    package var hasYearOfFourDigits: Bool {
        (-62_167_219_200..<253_402_300_800).contains(seconds)
    }

    private var dateAndTime: String {
        let date = CalendarDate(secondsSince1970: seconds)
        let day = [padded(date.year, 4), padded(date.month, 2), padded(date.day, 2)]
        let clock = [date.hour, date.minute, date.second].map { padded($0, 2) }
        return day.joined(separator: "-") + "T" + clock.joined(separator: ":")
    }
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
