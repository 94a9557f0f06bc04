import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

@testable import resval

@Suite("What import and export write")
struct TranslationTests {
    private func marks(
        _ native: Mark = .unset, excluding: Set<Marker> = [], including: Set<Marker> = []
    ) -> ItemMarks {
        var marks = Marks.none
        marks[.isExcludedFromBackup] = native
        return ItemMarks(
            native: marks,
            foreign: ForeignMarks(excluding: excluding, including: including))
    }

    private let everything = Set(Marker.allCases)

    @Test("import says natively what foreign marks say, of the chosen ones")
    func importing() {
        let excluded = Translation(
            importing: everything, onto: marks(excluding: [.apple, .nodump]))
        #expect(excluded.writes == [.key(MarkChange(.isExcludedFromBackup, to: true))])
        #expect(excluded.origins == [.apple, .nodump])
        let included = Translation(importing: [.xdg], onto: marks(including: [.xdg]))
        #expect(included.writes == [.key(MarkChange(.isExcludedFromBackup, to: false))])
        #expect(Translation(importing: [.xdg], onto: marks(excluding: [.apple])).isNothing)
        #expect(Translation(importing: everything, onto: marks()).isNothing)
    }

    @Test("import writes nothing where marks contradict each other")
    func undecided() {
        let translation = Translation(
            importing: everything, onto: marks(excluding: [.cachedir], including: [.xdg]))
        #expect(translation.writes.isEmpty)
        #expect(translation.conflict?.isSettled == false)
        #expect(
            translation.conflict?.sentence
                == "marks disagree: cachedir excludes it, xdg includes it")
    }

    @Test(
        "a native mark stays, also a broken one",
        arguments: [
            Mark.value(true), .value(false), .malformed(prefix: [0x78], length: 1),
            .unreadable(.ioError),
        ])
    func nativeWins(mark: Mark) {
        for foreign: Set<Marker> in [[.apple], [.xdg]] {
            let translation = Translation(
                importing: everything, onto: marks(mark, excluding: foreign))
            #expect(translation.writes.isEmpty)
            #expect((translation.conflict != nil) == (mark == .value(false)))
            #expect(translation.conflict?.isSettled != false)
        }
    }

    @Test("export says in the chosen marks what the native mark says, where they say nothing")
    func exporting() {
        let all: Set<Marker> = [.xdg, .apple, .nodump]
        func exporting(_ marks: ItemMarks, _ kind: FileKind = .regularFile) -> Translation {
            Translation(exporting: all, from: marks, on: kind)
        }
        #expect(
            exporting(marks(.value(true))).writes
                == [.foreign(.apple), .foreign(.xdg), .foreign(.nodump)])
        // A directory would pass the flag on.
        #expect(
            exporting(marks(.value(true)), .directory).writes
                == [.foreign(.apple), .foreign(.xdg)])
        #expect(exporting(marks(.value(false))).isNothing)
        #expect(exporting(marks()).isNothing)
        #expect(exporting(marks(.malformed(prefix: [], length: 0))).isNothing)
        let same = exporting(marks(.value(true), excluding: [.apple, .xdg]))
        #expect(same.writes == [.foreign(.nodump)])
        #expect(same.conflict == nil)
    }

    @Test("export leaves a foreign mark that says the opposite, and reports it")
    func opposites() {
        let apple = Translation(
            exporting: [.apple, .xdg], from: marks(.value(false), excluding: [.apple]),
            on: .regularFile)
        #expect(apple.writes.isEmpty)
        #expect(apple.conflict?.excluding == [.apple])
        #expect(apple.conflict?.isSettled == false)
        let xdg = Translation(
            exporting: [.xdg], from: marks(.value(true), including: [.xdg]), on: .regularFile)
        #expect(xdg.writes.isEmpty)
        #expect(xdg.conflict?.including == [.xdg])
    }

    @Test("Apple's value is a property list of 61 bytes that is one string")
    func appleValue() {
        let value = ForeignMark.apple.bytes
        #expect(value.count == 61)
        #expect(value.starts(with: "bplist00\u{5F}\u{10}\u{11}com.apple.backupd\u{8}".utf8))
        #expect(
            value.suffix(32).elementsEqual(
                [0, 0, 0, 0, 0, 0, 1, 1] + number(1) + number(0) + number(28)))
    }

    private func number(_ value: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, value] }
}

extension Translation {
    fileprivate var isNothing: Bool { writes.isEmpty && conflict == nil }
}
