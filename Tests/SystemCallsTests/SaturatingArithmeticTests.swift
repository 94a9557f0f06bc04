import Testing

@testable import SystemCalls

@Suite("Saturating arithmetic")
struct SaturatingArithmeticTests {
    private static let edges: [Int64] = [.min, .min + 1, -2, -1, 0, 1, 2, .max - 1, .max]

    @Test("every result is the nearest number that can be represented", arguments: edges, edges)
    func nearest(first: Int64, second: Int64) {
        let (wide, other) = (Int128(first), Int128(second))
        #expect(first.addingSaturating(second) == Int64(clamping: wide + other))
        #expect(first.subtractingSaturating(second) == Int64(clamping: wide - other))
        #expect(first.multipliedSaturating(by: second) == Int64(clamping: wide * other))
        var sum = first
        sum.addSaturating(second)
        #expect(sum == first.addingSaturating(second))
    }

    @Test("numbers without a sign end at 0")
    func unsigned() {
        #expect((1 as UInt64).subtractingSaturating(2) == 0)
        #expect(UInt64.max.addingSaturating(1) == .max)
        #expect(UInt64.max.multipliedSaturating(by: 512) == .max)
    }
}
