import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import ResourceValues

@Suite("The table of stored keys", .cleansUp)
struct KeyTableTests {
    @Test("each row leads to its own key, attribute and mark", arguments: StoredKey.allCases)
    func rows(key: StoredKey) throws {
        let value = try #require(key.valueTexts.first.flatMap { key.value(ofText: $0) })
        #expect(key.attribute.description == "user.resval.\(key.name)")
        #expect(ResourceKey(rawValue: key.rawValue)?.stored == key)
        var marks = Marks.none
        marks[key] = .value(value)
        for other in StoredKey.allCases {
            #expect(marks[other].value == (other == key ? value : nil))
        }
        #expect(!marks.isEmpty)
        marks[key] = .unset
        #expect(marks.isEmpty)
    }

    @Test(
        "a value of another type is malformed among marks and never stored",
        arguments: StoredKey.allCases)
    func otherType(key: StoredKey) throws {
        let wrong: StoredValue = key == .fileProtection ? false : .protection(.none)
        var marks = Marks.none
        marks[key] = .value(wrong)
        #expect(marks[key].isBroken)
        #expect(marks.brokenKeys == [key])
        let file = try temporaryDirectory { File("f").purgeable() }.appending("f")
        let changes = [MarkChange(.isPurgeable, to: nil), MarkChange(key, to: wrong)]
        #expect(code { try file.apply([changes[1]]) } == .malformedValue)
        #expect(code { try file.apply(changes) } == .malformedValue)
        #expect(code { try file.setValue(wrong, for: key) } == .malformedValue)
        try #expect(file.marks() == Marks(isPurgeable: true))
    }

    @Test(
        "each key is stored, read, listed and copied, and only it",
        arguments: StoredKey.allCases)
    func roundTrip(key: StoredKey) throws {
        let root = try temporaryDirectory {
            File("a"); File("b")
        }
        let (file, copy) = (root.appending("a"), root.appending("b"))
        for text in key.valueTexts {
            let value = try #require(key.value(ofText: text))
            try file.apply([MarkChange(key, to: value)])
            try #expect(file.value(for: key) == value)
            let any = try #require(ResourceKey(rawValue: key.rawValue))
            try #expect(file.resourceValue(for: any) == .stored(value))
            let marks = try file.marks()
            for other in StoredKey.allCases {
                #expect(marks[other].value == (other == key ? value : nil))
            }
            try #expect(file.copyMarks(to: copy) == 1)
            try #expect(copy.marks() == marks)
            try #expect(copy.extendedAttributeNames().count == 1)
        }
        try file.apply([MarkChange(key, to: nil)])
        try #expect(file.value(for: key) == nil)
        try #expect(file.marks().isEmpty)
    }

    @Test("each key's broken mark is reported by its name", arguments: StoredKey.allCases)
    func broken(key: StoredKey) throws {
        let root = try temporaryDirectory { File("f").attribute(key.attribute, "junk") }
        let file = root.appending("f")
        let marks = try file.marks()
        #expect(marks.brokenKeys == [key])
        #expect(marks.areBroken)
        #expect(marks.errors(at: file).map(\.attribute) == [key.attribute])
        let error = #expect(throws: FileError.self) { try file.value(for: key) }
        #expect(error?.code == .malformedValue)
        #expect(error?.path == file)
    }
}
