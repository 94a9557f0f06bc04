/// A file or directory that has lost data in a snapshot.
package struct LostFile: Sendable, Hashable {
    /// Its path in the snapshot.
    package let path: [UInt8]
    /// The first digits of the snapshot's identifier.
    package let snapshot: String
}

extension Restic {
    /// Returns what the repository lacks data of, as far as its index shows: by
    /// `restic repair snapshots --dry-run`.
    ///
    /// - Parameter snapshot: only of this snapshot; nil for all.
    func lostFiles(in snapshot: Snapshot? = nil) async throws(BackupError) -> [LostFile] {
        let command = ResticCommand(
            "repair", words("snapshots", "--dry-run", "--no-lock", "--no-cache"),
            on: snapshot.map { words($0.identifier) } ?? [])
        return try await run(command, reading: Lines(LostFileLines())).consumer.files
    }
}

/// Reads the lines `  file "/home/a": removed missing content` and `  dir …` after
/// `snapshot 22e2d451 of …`. A quoted name has escapes for control characters and for bytes that are not
/// UTF-8, and so no newline.
struct LostFileLines: LineConsumer {
    private(set) var files: [LostFile] = []
    private var snapshot = ""

    mutating func receive(line: ArraySlice<UInt8>) {
        if line.starts(with: "snapshot ".utf8) {
            let digits = line.dropFirst("snapshot ".utf8.count).prefix { $0 != UInt8(ascii: " ") }
            snapshot = String(decoding: digits, as: UTF8.self)
            return
        }
        for start in ["  file \"", "  dir \""] where line.starts(with: start.utf8) {
            guard let path = Self.unquoted(line.dropFirst(start.utf8.count)) else { continue }
            files.append(LostFile(path: path, snapshot: snapshot))
        }
    }

    /// Returns the text up to the closing quotation mark, without Go's escapes (`strconv.Quote`); nil if
    /// it is not complete.
    static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let letters = Array("abfnrtv\\\"'".utf8)
        let codes: [UInt8] = [7, 8, 12, 10, 13, 9, 11, 0x5C, 0x22, 0x27]
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return result }
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard let letter = rest.popFirst() else { return nil }
            if let index = letters.firstIndex(of: letter) {
                result.append(codes[index])
                continue
            }
            // A byte, or a character.
            guard let index = Array("xuU".utf8).firstIndex(of: letter),
                case let digits = rest.prefix([2, 4, 8][index]),
                let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(digits.count)
            if index == 0 {
                result.append(UInt8(truncatingIfNeeded: code))
            } else {
                guard let scalar = Unicode.Scalar(code) else { return nil }
                result += Array(String(scalar).utf8)
            }
        }
        return nil
    }
}
