import ResourceValues
import TestSupport
import Testing

/// What the format says of the bytes of an attribute.
enum ReadingRules {
    static let booleans: [(String, Bool?)] = [
        ("true", true), ("false", false), ("1", true), ("0", false), ("TRUE", true),
        ("False", false), ("tRuE", true), ("true\n", true), ("true\0", true), ("1\n", true),
        ("0\0", false), ("", nil), ("\n", nil), ("\0", nil), ("true\n\n", nil), ("true\0\0", nil),
        ("true\n\0", nil), ("true\r\n", nil), ("true ", nil), (" true", nil), ("yes", nil),
        ("no", nil), ("on", nil), ("2", nil), ("01", nil), ("tru", nil), ("truee", nil),
        ("tr\0ue", nil), ("true\0rest", nil), ("ｔｒｕｅ", nil), ("ſ", nil),
        ("true" + String(repeating: " ", count: 60), nil),
        (String(repeating: "1", count: 10240), nil),
    ]

    static let classes: [(String, FileProtection?)] = [
        ("complete", .complete), ("completeUnlessOpen", .completeUnlessOpen),
        ("completeUntilFirstUserAuthentication", .completeUntilFirstUserAuthentication),
        ("completeWhenUserInactive", .completeWhenUserInactive), ("none", FileProtection.none),
        ("COMPLETEUNLESSOPEN", .completeUnlessOpen), ("None\n", FileProtection.none),
        ("complete\0", .complete), ("", nil), ("1", nil), ("true", nil), ("compl", nil),
        ("complete unless open", nil), ("NSFileProtectionComplete", nil),
        // The Kelvin sign, which becomes a "k" in lower case, and a long s.
        ("completeUnles\u{17F}Open", nil),
    ]
}

extension StoredKey {
    fileprivate func decode(_ bytes: [UInt8]) -> StoredValue? {
        bytes.withUnsafeBytes { decode($0) }
    }

    fileprivate func decode(_ text: String) -> StoredValue? { decode(Array(text.utf8)) }
}

@Suite("The text of attributes")
struct AttributeValueTests {
    @Test("Booleans are read as the format says", arguments: ReadingRules.booleans)
    func booleans(text: String, value: Bool?) {
        #expect(StoredKey.isPurgeable.decode(text)?.boolean == value)
    }

    @Test("protection classes are read as the format says", arguments: ReadingRules.classes)
    func classes(text: String, value: FileProtection?) {
        #expect(StoredKey.fileProtection.decode(text)?.protection == value)
    }

    @Test("what is written is read as the same value")
    func roundTrip() {
        for value in [StoredValue.boolean(true), .boolean(false)] {
            #expect(StoredKey.isPurgeable.decode(value.text) == value)
            #expect(StoredKey.fileProtection.decode(value.text) == nil)
        }
        for value in FileProtection.allCases.map({ StoredValue.protection($0) }) {
            #expect(StoredKey.fileProtection.decode(value.text) == value)
            #expect(StoredKey.isExcludedFromBackup.decode(value.text) == nil)
        }
    }

    @Test("the texts of the format are these and no others")
    func texts() {
        #expect(StoredKey.isPurgeable.valueTexts == ["true", "false"])
        #expect(
            Set(StoredKey.fileProtection.valueTexts) == [
                "complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication",
                "completeWhenUserInactive", "none",
            ])
    }

    @Test("the attributes of the format have these names")
    func names() {
        #expect(StoredKey.isExcludedFromBackup.attribute == "user.resval.isExcludedFromBackup")
        #expect(StoredKey.isPurgeable.attribute == "user.resval.isPurgeable")
        #expect(StoredKey.fileProtection.attribute == "user.resval.fileProtection")
    }

    @Test("every single byte but 0 and 1 is malformed")
    func singleBytes() {
        for byte in UInt8.min...UInt8.max {
            let expected: Bool? = [UInt8(ascii: "1"): true, UInt8(ascii: "0"): false][byte]
            #expect(StoredKey.isExcludedFromBackup.decode([byte])?.boolean == expected)
        }
    }
}
