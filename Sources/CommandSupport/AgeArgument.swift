import ArgumentParser

/// A duration given on the command line: a number with s, m, h, d or w, or 0.
package struct AgeArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The duration in seconds.
    package let seconds: Int64

    /// Parses a duration such as `90s`, `15m`, `24h` or `10d`; nil for anything else, in particular
    /// for a number other than 0 without a unit, which might be meant as days.
    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), let unit = Self.unit(argument.dropFirst(digits.count)),
            number == 0 || digits.count < argument.count
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        seconds = product
    }

    private static func unit(_ suffix: Substring) -> Int64? {
        switch suffix {
        case "", "s": 1
        case "m": 60
        case "h": 3600
        case "d": 86400
        case "w": 7 * 86400
        default: nil
        }
    }
}
