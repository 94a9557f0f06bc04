import CLinux

/// A date and time of day in UTC, to the second, in the proleptic Gregorian calendar.
package struct CalendarDate: Sendable, Hashable {
    /// The astronomical year: year 0 precedes year 1.
    package var year: Int
    /// The month, from 1.
    package var month: Int
    /// The day of the month, from 1.
    package var day: Int
    /// The hour, from 0.
    package var hour: Int
    /// The minute, from 0.
    package var minute: Int
    /// The second, from 0.
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
