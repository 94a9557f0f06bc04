import ResourceValues
import StoragePolicy
import Testing

private let rows: [PolicyRow] = [
    PolicyRow("the item's own class", "f(completeUnlessOpen)", "completeUnlessOpen: marked"),
    PolicyRow("the class of the directory above", "d(complete)/f", "complete: inherited /d"),
    PolicyRow(
        "the nearest directory counts", "d(complete)/e(completeWhenUserInactive)/f",
        "completeWhenUserInactive: inherited /d/e"),
    PolicyRow(
        "the item's own class beats the directory's", "d(complete)/f(none)",
        "none, plaintext: marked"),
    PolicyRow(
        "none is a class that allows plaintext", "d(none)/f", "none, plaintext: inherited /d"),
    PolicyRow(
        "malformed acts as complete and is reported", "d(none)/f(malformed class)",
        "complete: malformed; malformed"),
    PolicyRow(
        "unreadable acts as complete and is reported", "f(unreadable class)",
        "complete: unreadable; unreadable"),
    PolicyRow(
        "malformed acts as complete on what lies below", "d(malformed class)/f",
        "complete: inherited /d"),
    PolicyRow("no class stored anywhere", "d/f", "no class, plaintext: unmarked"),
]

struct ProtectionTests {
    @Test("each rule about protection", arguments: rows)
    func rule(row: PolicyRow) {
        row.check { decision in
            let protection = decision.protection
            #expect(!protection.sentence.isEmpty)
            let name = decision.protectionClass?.rawValue ?? "no class"
            return (
                name + (protection.cause.forbidsPlaintext ? "" : ", plaintext"), protection.name,
                protection.ancestor, protection.name
            )
        }
    }
}
