/// Arithmetic for numbers that come from a disk or a file, such as sizes, counts and times: where the
/// result cannot be represented it is the nearest number that can, so that no such number ends the
/// program.
extension FixedWidthInteger {
    /// The sum, or the nearest number that can be represented.
    package func addingSaturating(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// The difference, or the nearest number that can be represented.
    package func subtractingSaturating(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }

    /// The product, or the nearest number that can be represented.
    package func multipliedSaturating(by factor: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        guard overflow else { return product }
        return (self < 0) == (factor < 0) ? .max : .min
    }

    /// Adds another number, as ``addingSaturating(_:)`` does.
    package mutating func addSaturating(_ other: Self) { self = addingSaturating(other) }
}
