import ResourceValues
import SystemCalls

/// A time on the calendar of the time zone it was recorded in.
package struct CalendarTime: Sendable, Hashable {
    /// Seconds since 1970 in UTC.
    package let seconds: Int64
    private let nanoseconds: UInt32
    /// Seconds east of UTC.
    private let offset: Int

    /// Creates a time.
    ///
    /// - Parameter offset: seconds east of UTC.
    package init(_ time: FileTime, offset: Int = 0) {
        seconds = time.seconds
        nanoseconds = time.nanoseconds
        self.offset = offset
    }

    /// Days since 1970-01-01.
    var day: Int { Int(localSeconds).dividedDown(by: 86400) }
    /// The hour of the day, from 0.
    var hour: Int { date.hour }
    /// The number of the week; weeks begin on Monday.
    var week: Int { (day + 3).dividedDown(by: 7) }
    /// The year.
    var year: Int { date.year }
    /// The month, from 1.
    var month: Int { date.month }

    /// Whether it is later than another time.
    func isLater(than other: CalendarTime) -> Bool {
        (seconds, nanoseconds) > (other.seconds, other.nanoseconds)
    }

    /// Returns the time a span earlier on the calendar: a month before 31 March is 3 March, or 2
    /// March in leap years, since February has no 31st.
    func before(_ span: CalendarSpan) -> CalendarTime {
        var date = date
        date.year -= span.years
        date.month -= span.months
        date.day -= span.days
        date.hour -= span.hours
        return CalendarTime(
            FileTime(
                seconds: date.secondsSince1970.subtractingSaturating(Int64(offset)),
                nanoseconds: nanoseconds), offset: offset)
    }

    private var localSeconds: Int64 { seconds.addingSaturating(Int64(offset)) }

    private var date: CalendarDate { CalendarDate(secondsSince1970: localSeconds) }
}

/// A length of time on the calendar, in restic's notation: `1y6m7d12h`.
package struct CalendarSpan: Sendable, Hashable, CustomStringConvertible {
    package private(set) var years = 0
    package private(set) var months = 0
    package private(set) var days = 0
    package private(set) var hours = 0

    /// Parses numbers, each followed by `y`, `m`, `d` or `h`; nil for anything else, and for no time at all.
    package init?(_ text: String) {
        var digits = ""
        for character in text {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let number = Int(digits), number < 100_000 else { return nil }
            digits = ""
            switch character {
            case "y": years = number
            case "m": months = number
            case "d": days = number
            case "h": hours = number
            default: return nil
            }
        }
        guard digits.isEmpty, (years, months, days, hours) != (0, 0, 0, 0) else { return nil }
    }

    package var description: String {
        [(years, "y"), (months, "m"), (days, "d"), (hours, "h")]
            .filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }.joined()
    }
}

extension Int {
    fileprivate func dividedDown(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension Snapshot {
    /// The time it was made, on the calendar of the machine it was made on.
    var calendarTime: CalendarTime { CalendarTime(time, offset: timeOffset) }
}

extension CalendarTime {
    /// Returns the current time in UTC, by this machine's clock.
    package static func current() -> CalendarTime { CalendarTime(FileTime.now) }
}
