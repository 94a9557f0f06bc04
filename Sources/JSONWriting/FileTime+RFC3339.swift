import ResourceValues

extension FileTime {
    /// The time in UTC with nanoseconds, as RFC 3339 writes it: `2026-01-31T08:05:09.000000001Z`.
    ///
    /// Years outside 0 to 9999, which RFC 3339 cannot write, get a sign and as many digits as needed.
    public var rfc3339: String {
        let day = Int(seconds.floorDivided(by: 86400))
        // For the earliest times the day begins before what 64 bits can tell; the difference is right.
        let second = Int(seconds &- Int64(day) &* 86400)
        let date = CivilDate(daysSince1970: day)
        let year =
            (0...9999).contains(date.year)
            ? padded(date.year, 4) : (date.year < 0 ? "-" : "+") + padded(abs(date.year), 4)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
        return "\(year)-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + clock.joined(separator: ":") + ".\(padded(Int(nanoseconds), 9))Z"
    }
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// A day of the proleptic Gregorian calendar.
private struct CivilDate {
    let year: Int
    let month: Int
    let day: Int

    /// Counts in years that begin on 1 March, so that the leap day is a year's last, and in eras of
    /// 400 years, which all have the same number of days.
    init(daysSince1970: Int) {
        let daysPerEra = 146_097
        let shifted = daysSince1970 + 719_468
        let era = shifted.floorDivided(by: daysPerEra)
        let dayOfEra = shifted - era * daysPerEra
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}

extension BinaryInteger {
    fileprivate func floorDivided(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
