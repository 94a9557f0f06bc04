import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

struct ProtectionRow: CustomTestStringConvertible {
    var rule: String
    var steps: [Step]
    var value: FileProtection?
    var forbidsPlaintext: Bool
    var reason: String
    var ancestor: FilePath?
    var issues: [String] = []
    var testDescription: String { rule }
}

private let rows: [ProtectionRow] = [
    ProtectionRow(
        rule: "the item's own class", steps: [.file("f", .protection(.completeUnlessOpen))],
        value: .completeUnlessOpen, forbidsPlaintext: true, reason: "marked"),
    ProtectionRow(
        rule: "the class of the directory above",
        steps: [.directory("d", .protection(.complete)), .file("f")],
        value: .complete, forbidsPlaintext: true, reason: "inherited", ancestor: "/d"),
    ProtectionRow(
        rule: "the nearest directory counts",
        steps: [
            .directory("d", .protection(.complete)),
            .directory("e", .protection(.completeWhenUserInactive)), .file("f"),
        ],
        value: .completeWhenUserInactive, forbidsPlaintext: true, reason: "inherited",
        ancestor: "/d/e"),
    ProtectionRow(
        rule: "the item's own class beats the directory's",
        steps: [.directory("d", .protection(.complete)), .file("f", .protection(.none))],
        value: FileProtection.none, forbidsPlaintext: false, reason: "marked"),
    ProtectionRow(
        rule: "none is a class that allows plaintext",
        steps: [.directory("d", .protection(.none)), .file("f")],
        value: FileProtection.none, forbidsPlaintext: false, reason: "inherited", ancestor: "/d"),
    ProtectionRow(
        rule: "malformed acts as complete and is reported",
        steps: [.directory("d", .protection(.none)), .file("f", .malformedProtection)],
        value: .complete, forbidsPlaintext: true, reason: "malformed", issues: ["malformed"]),
    ProtectionRow(
        rule: "unreadable acts as complete and is reported",
        steps: [.file("f", .unreadableProtection)],
        value: .complete, forbidsPlaintext: true, reason: "unreadable", issues: ["unreadable"]),
    ProtectionRow(
        rule: "malformed acts as complete on what lies below",
        steps: [.directory("d", .malformedProtection), .file("f")],
        value: .complete, forbidsPlaintext: true, reason: "inherited", ancestor: "/d"),
    ProtectionRow(
        rule: "no class stored anywhere", steps: [.directory("d"), .file("f")],
        value: nil, forbidsPlaintext: false, reason: "unmarked"),
]

struct ProtectionTests {
    @Test("each rule about protection", arguments: rows)
    func rule(row: ProtectionRow) {
        for decision in [decide(row.steps), walk(row.steps)] {
            #expect(decision.protectionClass == row.value)
            #expect(decision.protection.cause.forbidsPlaintext == row.forbidsPlaintext)
            #expect(decision.protection.name == row.reason)
            #expect(decision.protection.ancestor == row.ancestor)
            #expect(decision.issues.map(\.name) == row.issues)
            #expect(!decision.protection.sentence.isEmpty)
        }
    }
}
