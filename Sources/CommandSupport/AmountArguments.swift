import ArgumentParser
import SystemCalls

/// A number of bytes given on the command line: plain, with K, M, G, T, KiB, MiB, GiB or TiB for
/// powers of 1024, or with KB, MB, GB or TB for powers of 1000.
package struct ByteSize: ExpressibleByArgument, Sendable, Hashable {
    package let bytes: Int64

    package init(bytes: Int64) { self.bytes = bytes }

    package var defaultValueDescription: String { sizeText(bytes) }

    /// Parses a size such as `4096`, `20K`, `1.5G`, `2GB` or `10.0 MiB`.
    ///
    /// - Returns: nil for anything else, including sizes beyond 8 EiB.
    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let unit = Self.unit(argument.dropFirst(digits.count)),
            let bytes = Self.multiply(digits, by: unit)
        else { return nil }
        self.bytes = bytes
    }

    private static func unit(_ suffix: Substring) -> Int64? {
        let name = suffix.hasPrefix(" ") ? suffix.dropFirst() : suffix
        if suffix.isEmpty || name == "B" { return 1 }
        let isBinary = name.hasSuffix("iB") || !name.hasSuffix("B")
        let letter = name.dropLast(name.hasSuffix("iB") ? 2 : isBinary ? 0 : 1)
        guard let index = ["K", "M", "G", "T"].firstIndex(of: letter.uppercased())
        else { return nil }
        return (0...index).reduce(1) { product, _ in product * (isBinary ? 1024 : 1000) }
    }

    /// Multiplies in exact arithmetic; drops a fraction of a byte.
    private static func multiply(_ digits: Substring, by unit: Int64) -> Int64? {
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int64(parts[0]) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return product }
        guard unit > 1, (1...6).contains(parts[1].count), let fraction = Int64(parts[1])
        else { return nil }
        let scale = parts[1].reduce(Int64(1)) { scale, _ in scale * 10 }
        let (scaled, fractionOverflow) = fraction.multipliedReportingOverflow(by: unit)
        guard !fractionOverflow else { return nil }
        let (sum, sumOverflow) = product.addingReportingOverflow(scaled / scale)
        return sumOverflow ? nil : sum
    }
}

/// A duration given on the command line: a number with s, m, h, d or w, or 0.
package struct AgeArgument: ExpressibleByArgument, Sendable, Hashable {
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
