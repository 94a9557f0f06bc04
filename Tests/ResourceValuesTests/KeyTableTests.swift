import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import ResourceValues

@Suite("The table of stored keys")
struct KeyTableTests {
    @Test("each row leads to its own key, attribute and mark", arguments: ResourceKey.storedKeys)
    func rows(key: ResourceKey) throws {
        let value = try #require(key.valueTexts.first.flatMap { ResourceValue(text: $0, for: key) })
        #expect(key.stored?.attribute.description == "user.resval.\(key.name)")
        #expect(MarkChange(key, to: value)?.key == key)
        #expect(MarkChange(key, to: nil)?.key == key)
        var marks = Marks.none
        var isChanged = marks.setValue(value, for: key)
        #expect(isChanged)
        for other in ResourceKey.storedKeys {
            #expect(marks[other] == (other == key ? value : nil))
        }
        #expect(!marks.isEmpty)
        isChanged = marks.setValue(.number(1), for: key)
        #expect(!isChanged)
        #expect(marks[key] == value)
        isChanged = marks.setValue(nil, for: key)
        #expect(isChanged)
        #expect(marks.isEmpty)
    }

    @Test("every mark of an item is in the table, in the table's order")
    func allMarks() {
        let properties = Mirror(reflecting: Marks.none).children.compactMap(\.label)
        #expect(properties == ResourceKey.storedKeys.map(\.name))
    }

    @Test(
        "each key is stored, read, listed and copied, and only it",
        arguments: ResourceKey.storedKeys)
    func roundTrip(key: ResourceKey) throws {
        try withTemporaryDirectory(
            containing: Tree {
                File("a"); File("b")
            }
        ) { root in
            let (file, copy) = (root.appending("a"), root.appending("b"))
            for text in key.valueTexts {
                let value = try #require(ResourceValue(text: text, for: key))
                try file.apply([#require(MarkChange(key, to: value))])
                try #expect(file.resourceValue(for: key) == value)
                let marks = try file.marks()
                for other in ResourceKey.storedKeys {
                    #expect(marks[other] == (other == key ? value : nil))
                }
                try #expect(file.copyMarks(to: copy) == 1)
                try #expect(copy.marks() == marks)
                try #expect(copy.extendedAttributeNames().count == 1)
            }
            try file.apply([#require(MarkChange(key, to: nil))])
            try #expect(file.resourceValue(for: key) == nil)
            try #expect(file.marks().isEmpty)
        }
    }

    @Test("each key's broken mark is reported by its name", arguments: ResourceKey.storedKeys)
    func broken(key: ResourceKey) throws {
        let attribute = try #require(key.stored?.attribute)
        try withTemporaryDirectory(containing: Tree { File("f").attribute(attribute, "junk") }) {
            root in
            let file = root.appending("f")
            let marks = try file.marks()
            #expect(marks.brokenKeys == [key])
            #expect(marks.areBroken)
            #expect(marks.errors(at: file).map(\.attribute) == [attribute])
            let error = #expect(throws: FileError.self) { try file.resourceValue(for: key) }
            #expect(error?.code == .malformedValue)
            #expect(error?.path == file)
        }
    }
}
