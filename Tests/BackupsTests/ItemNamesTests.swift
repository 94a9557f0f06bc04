import SystemCalls
import TestSupport
import Testing

@testable import Backups

@Suite("The names of items that are kept for TAB")
struct ItemNamesTests {
    private func bytes(_ name: String) -> [UInt8] { Array(name.utf8) }

    private func names(in text: [UInt8]) -> [[UInt8]] {
        var names: [[UInt8]] = []
        ItemNames.forEach(in: text) { name, _ in names.append(name) }
        return names
    }

    @Test("names are read back as they were added, but for those that cannot be typed and shown")
    func readBack() {
        let long = "/s/" + String(repeating: "x", count: 300)
        let typable = [
            "/s/a", "/s/a/", "/s/a b", "/s/\u{E4}", long, long + "y", long + "y/z", "/t",
        ]
        var kept = ItemNames()
        for name in typable {
            kept.add(bytes(name))
            for end in [[0xFF], [0x0A, 0x62], [0x1B, 0x5B], bytes("\u{202E}"), [0]] as [[UInt8]] {
                kept.add(bytes(name) + end)
            }
        }
        #expect(names(in: kept.text) == typable.map(bytes))
    }

    @Test("a name that begins as the one before takes little room, and no text is too long")
    func room() {
        var kept = ItemNames()
        for number in 0..<100 { kept.add(bytes("/home/ada/documents/letters/\(number)")) }
        #expect(kept.text.count < 1000)
        for number in 0..<4500 {
            kept.add([UInt8(ascii: "a") + UInt8(number % 2)] + Array(repeating: 0x78, count: 4000))
        }
        #expect(kept.text.count <= ItemNames.longestText)
        #expect(kept.text.count > ItemNames.longestText - 4003)
        kept.add(bytes("/s"))
        #expect(names(in: kept.text).last == bytes("/s"))
    }

    @Test("names that are not stored any more stay for 57 weeks, behind the others")
    func gone() {
        let now = UInt8(truncatingIfNeeded: FileTime.now.seconds / 604_800)
        func entry(_ name: String, weeks: UInt8) -> [UInt8] {
            [now &- weeks, 0] + bytes(name) + [0]
        }
        let earlier =
            entry("/s/new", weeks: 0) + entry("/s/57", weeks: 57) + entry("/s/58", weeks: 58)
            + entry("/s/dir/", weeks: 1) + entry("/s/200", weeks: 200)
        var kept = ItemNames()
        kept.add(bytes("/s/new"))
        kept.add(earlier) { [bytes("/s/new"), bytes("/s/dir")].contains($0) }
        #expect(names(in: kept.text) == [bytes("/s/new"), bytes("/s/57")])
        var weeks: [UInt8] = []
        ItemNames.forEach(in: kept.text) { weeks.append($1) }
        #expect(weeks == [now, now &- 57])
    }

    @Test("any bytes yield names that are not longer, and what is kept of them is read back")
    func damaged() {
        var sound = ItemNames()
        for number in 0..<40 {
            sound.add(bytes("/home/ada/directory \(number / 8)/file \(number)"))
        }
        var numbers = SeededNumbers(seed: 9)
        for round in 0..<4000 {
            var text = sound.text
            if round % 2 == 0 {
                text = (0..<200).map { _ in UInt8.random(in: 0...255, using: &numbers) & 0x83 }
            }
            for _ in 0..<4 {
                let place = Int.random(in: 0..<text.count, using: &numbers)
                text[place] = UInt8.random(in: 0...255, using: &numbers)
            }
            text.removeLast(Int.random(in: 0..<text.count, using: &numbers))
            let read = names(in: text)
            var kept = ItemNames()
            for name in read { kept.add(name) }
            let typable = read.filter { $0.withUnsafeBufferPointer(TextSafety.isSafe) }
            guard read.allSatisfy({ $0.count <= text.count && !$0.contains(0) }),
                names(in: kept.text) == typable
            else {
                Issue.record("\(text)")
                return
            }
        }
    }
}
