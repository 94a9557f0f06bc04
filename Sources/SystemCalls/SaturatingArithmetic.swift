/// Arithmetic for numbers read from a disk or a file, such as sizes, counts and times. A result
/// that cannot be represented becomes the nearest value that can, so that no such number crashes
/// the program. Inlinable, since walks call it for each entry.
extension FixedWidthInteger {
    /// Returns the sum, or the nearest representable value.
    @inlinable package func addingSaturating(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the difference, or the nearest representable value.
    @inlinable package func subtractingSaturating(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }

    /// Returns the product, or the nearest representable value.
    @inlinable package func multipliedSaturating(by factor: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        guard overflow else { return product }
        return (self < 0) == (factor < 0) ? .max : .min
    }

    /// Adds another number, as ``addingSaturating(_:)`` does.
    @inlinable package mutating func addSaturating(_ other: Self) { self = addingSaturating(other) }
}
