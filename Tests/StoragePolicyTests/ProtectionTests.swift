import ResourceValues
import StoragePolicy
import Testing

private let rows = PolicyRow.rows(
    """
    the item's own class | f(completeUnlessOpen) | completeUnlessOpen: marked
    the class of the directory above | d(complete)/f | complete: inherited /d
    the nearest directory counts | d(complete)/e(completeWhenUserInactive)/f \
    | completeWhenUserInactive: inherited /d/e
    the item's own class beats the directory's | d(complete)/f(none) | none, plaintext: marked
    none is a class that allows plaintext | d(none)/f | none, plaintext: inherited /d
    malformed acts as complete and is reported | d(none)/f(malformed class) \
    | complete: malformed; malformed
    unreadable acts as complete and is reported | f(unreadable class) \
    | complete: unreadable; unreadable
    malformed acts as complete on what lies below | d(malformed class)/f | complete: inherited /d
    no class stored anywhere | d/f | no class, plaintext: unmarked
    """)

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
