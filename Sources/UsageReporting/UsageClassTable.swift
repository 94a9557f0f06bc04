/// A class with its number in the tables of one walk.
final class UsageClassEntry: Sendable {
    let number: Int
    let value: UsageClass
    let fate: UsageFate
    let isExcludedAndPurgeable: Bool

    init(_ value: UsageClass, number: Int) {
        self.number = number
        self.value = value
        fate = value.fate
        isExcludedAndPurgeable = value.isExcludedAndPurgeable
    }
}

/// The classes that one walk met.
struct UsageClassTable: Sendable {
    private(set) var entries: [UsageClassEntry] = []
    private var numbers: [UsageClass: Int] = [:]

    mutating func entry(for value: UsageClass) -> UsageClassEntry {
        if let number = numbers[value] { return entries[number] }
        let entry = UsageClassEntry(value, number: entries.count)
        numbers[value] = entry.number
        entries.append(entry)
        return entry
    }
}

/// Amounts by class.
struct UsageClassAmounts: Sendable {
    private(set) var amounts: [UsageAmount] = []

    @inline(__always)
    mutating func add(_ amount: UsageAmount, _ entry: UsageClassEntry) {
        while amounts.count <= entry.number { amounts.append(UsageAmount()) }
        amounts[entry.number].add(amount)
    }

    mutating func add(_ other: UsageClassAmounts) {
        for (number, amount) in other.amounts.enumerated() {
            if number == amounts.count {
                amounts.append(amount)
            } else {
                amounts[number].add(amount)
            }
        }
    }
}
