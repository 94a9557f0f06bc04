import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The error of reading a malformed record.
package struct MalformedRecord: Error, Sendable, Hashable {
    /// What is wrong, in words.
    package let reason: String
}

// A record is text: a header with the version, lines of `NAME VALUE` in a fixed order, and the hash
// of all these lines as the last line. A truncated or partly overwritten record is always detected
// as malformed.

extension EvictedFile {
    private static let firstHead = "resval-evicted 1"
    private static let head = "resval-evicted 2"

    /// The record in the journal's text format.
    package var text: [UInt8] {
        // Version 1 identifies files by device and inode only.
        let head = persistentIdentity == nil ? Self.firstHead : Self.head
        var lines = [head, "state \(state.rawValue)", "path \(Percent.encoded(path.bytes))"]
        lines.append("device \(identity.device)")
        lines.append("inode \(identity.inode)")
        if let persistentIdentity, case .named(let name) = persistentIdentity.filesystem {
            lines.append("filesystem \(Percent.encoded(name))")
            let born = persistentIdentity.creationTime
            lines.append("born \(born.map { "\($0.seconds).\($0.nanoseconds)" } ?? "-")")
        }
        lines.append("size \(size)")
        lines.append("modified \(modified.seconds).\(modified.nanoseconds)")
        lines.append("permissions \(permissions)")
        lines.append("content \(content.hexadecimal)")
        lines.append("snapshot \(Percent.encoded(Array(snapshot.utf8)))")
        lines.append("hold \(Percent.encoded(Array(pinTag.utf8)))")
        lines.append("repository \(Percent.encoded(repository))")
        lines.append("remaining \(remainingBytes.map(String.init) ?? "-")")
        lines.append("failure \(failure.map { Percent.encoded(Array($0.utf8)) } ?? "-")")
        let body = Array(lines.map { $0 + "\n" }.joined().utf8)
        return body + Array("hash \(SHA256.digest(of: body))\n".utf8)
    }

    /// Parses a record.
    ///
    /// - Throws: ``MalformedRecord`` for anything but exactly what ``text`` returns.
    package init(text: [UInt8]) throws(MalformedRecord) {
        var reader = try EvictedFileReader(text)
        let head = try reader.line()
        guard head == Self.head || head == Self.firstHead else {
            throw MalformedRecord(reason: "another version")
        }
        let stateName = try reader.value("state")
        guard let state = State(rawValue: stateName) else {
            throw MalformedRecord(reason: "an unknown state")
        }
        let path = FilePath(bytes: try reader.bytes("path"))
        let identity = FileIdentity(
            device: try reader.number("device"), inode: try reader.number("inode"))
        var persistent: PersistentIdentity?
        if head == Self.head {
            persistent = PersistentIdentity(
                filesystem: .named(try reader.bytes("filesystem")), inode: identity.inode,
                creationTime: try reader.optionalTime("born"))
        }
        let size: Int64 = try reader.number("size")
        let modified = try reader.time("modified")
        let permissions: UInt16 = try reader.number("permissions")
        let contentText = try reader.value("content")
        guard let content = ContentHash(hexadecimal: Array(contentText.utf8)) else {
            throw MalformedRecord(reason: "no hash of the content")
        }
        self.init(
            state: state, path: path, identity: identity, persistentIdentity: persistent,
            size: size, modified: modified,
            permissions: permissions, content: content, snapshot: try reader.text("snapshot"),
            pinTag: try reader.text("hold"), repository: try reader.bytes("repository"),
            remainingBytes: try reader.optional("remaining").map(decimal),
            failure: try reader.optional("failure").map { String(decoding: $0.utf8, as: UTF8.self) }
                .map(Percent.decodedText))
        // Only the canonical text of a record is accepted.
        guard FilePath(plainAbsolute: path.bytes) != nil, size >= 0, remainingBytes ?? 0 >= 0,
            self.text == text
        else {
            throw MalformedRecord(reason: "not in canonical form")
        }
    }
}

/// A reader of a record's lines in order, after verifying the hash in the last line.
private struct EvictedFileReader {
    private var lines: ArraySlice<ArraySlice<UInt8>>

    init(_ text: [UInt8]) throws(MalformedRecord) {
        let newline = UInt8(ascii: "\n")
        guard text.last == newline,
            let bodyEnd = text.dropLast().lastIndex(of: newline)
        else { throw MalformedRecord(reason: "truncated") }
        let body = text[...bodyEnd]
        let hash = "hash \(SHA256.digest(of: body))\n"
        guard text[(bodyEnd + 1)...].elementsEqual(hash.utf8) else {
            throw MalformedRecord(reason: "its hash is wrong")
        }
        lines = body.dropLast().split(separator: newline, omittingEmptySubsequences: false)[...]
    }

    mutating func line() throws(MalformedRecord) -> String {
        guard let line = lines.popFirst(), let text = String(validating: line, as: UTF8.self) else {
            throw MalformedRecord(reason: "a line is missing")
        }
        return text
    }

    mutating func value(_ name: String) throws(MalformedRecord) -> String {
        let line = try line()
        guard line.hasPrefix(name + " ") else {
            throw MalformedRecord(reason: "the line \(name) is missing")
        }
        return String(line.dropFirst(name.count + 1))
    }

    mutating func number<Number: FixedWidthInteger>(
        _ name: String
    ) throws(MalformedRecord) -> Number {
        try decimal(try value(name))
    }

    mutating func bytes(_ name: String) throws(MalformedRecord) -> [UInt8] {
        Percent.decoded(Array(try value(name).utf8))
    }

    mutating func text(_ name: String) throws(MalformedRecord) -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }

    /// Reads a line whose value may be a dash, for nil.
    mutating func optional(_ name: String) throws(MalformedRecord) -> String? {
        let value = try value(name)
        return value == "-" ? nil : value
    }

    mutating func time(_ name: String) throws(MalformedRecord) -> FileTime {
        guard let time = try optionalTime(name) else {
            throw MalformedRecord(reason: "invalid time")
        }
        return time
    }

    /// Reads a line whose value may be a dash, for nil.
    mutating func optionalTime(_ name: String) throws(MalformedRecord) -> FileTime? {
        guard let value = try optional(name) else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw MalformedRecord(reason: "invalid time") }
        let time = FileTime(
            seconds: try decimal(String(parts[0])), nanoseconds: try decimal(String(parts[1])))
        // utimensat(2) gives larger values special meanings, such as `UTIME_NOW` and `UTIME_OMIT`.
        guard time.nanoseconds < 1_000_000_000 else {
            throw MalformedRecord(reason: "invalid time")
        }
        return time
    }
}

private func decimal<Number: FixedWidthInteger>(
    _ text: String
) throws(MalformedRecord) -> Number {
    guard let number = Number(text) else { throw MalformedRecord(reason: "invalid number") }
    return number
}

/// Percent-encoding of bytes as printable ASCII: bytes outside `0x21...0x7E`, `%`, and a lone dash
/// are written as `%XX`.
enum Percent {
    static func encoded(_ bytes: [UInt8]) -> String {
        if bytes == [UInt8(ascii: "-")] { return "%2D" }
        return bytes.reduce(into: "") { text, byte in
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    static func decoded(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    static func decodedText(_ text: String) -> String {
        String(decoding: decoded(Array(text.utf8)), as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, digits.first != UInt8(ascii: "+") else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
