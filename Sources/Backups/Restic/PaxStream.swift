/// Reads a tar archive in the PAX format, as `restic dump --archive tar` writes it, and passes on
/// the contents of its regular files as the bytes arrive.
///
/// A file's consumer is finished exactly when all of the file's bytes have arrived. A consumer that
/// throws gets nothing more, and the archive is read on: the next file may be as it should.
///
/// The archive is not trusted. What restic never writes is an error: a reader that skips what it
/// does not understand may take the content of a file for headers. After an error nothing more is
/// passed on, and ``finish()`` throws too. At most one extended header is in memory.
struct PaxStream: OutputConsumer {
    private enum Step {
        case header, records, content, padding, lastBlock, end
    }

    /// The longest extended header that is accepted, in bytes. Go writes no more than 1 MiB.
    static let longestRecords: Int64 = 16 << 20

    private let member: @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    private var step = Step.header
    /// The bytes that have yet to arrive until the step is complete.
    private var missing = blockSize
    private var collected: [UInt8] = []
    private var padding: Int64 = 0
    private var records = MemberRecords()
    private var consumer: (any OutputConsumer)?

    /// - Parameter member: called for each regular file that is not a hard link, with the bytes of
    ///   its path from the root; returns nil for a file whose content is not needed.
    init(member: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?) {
        self.member = member
    }

    /// Receives the next bytes. Bytes after the end of the archive are ignored.
    ///
    /// - Throws: ``BackupError/Code/unexpectedAnswer`` when the archive is damaged.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        var rest = bytes[...]
        while step != .end, !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(clamping: missing)))
            rest = rest.dropFirst(piece.count)
            missing -= Int64(piece.count)
            switch step {
            case .header, .records, .lastBlock: collected.append(contentsOf: piece)
            case .content:
                do throws(BackupError) {
                    try consumer?.receive(piece)
                } catch {
                    consumer = nil
                }
            case .padding, .end: break
            }
            while missing == 0, step != .end { try completeStep() }
        }
    }

    /// - Throws: ``BackupError/Code/unexpectedAnswer`` when the archive has no end.
    mutating func finish() throws(BackupError) {
        guard step == .end else { throw damage("it ends early") }
    }

    /// Throws before it changes anything, so that it throws again when more bytes arrive.
    private mutating func completeStep() throws(BackupError) {
        let isZero = collected.allSatisfy { $0 == 0 }
        switch step {
        case .header where isZero: begin(.lastBlock, blockSize)
        case .header: try beginMember(TarHeader(collected))
        case .records:
            records = try MemberRecords(collected)
            begin(.padding, padding)
        case .content:
            // As in `receive`: the failure of one consumer is its own, and it keeps it.
            try? consumer?.finish()
            consumer = nil
            begin(.padding, padding)
        case .padding: begin(.header, blockSize)
        case .lastBlock where isZero: begin(.end, 0)
        case .lastBlock: throw damage("it goes on after a block of zeros")
        case .end: break
        }
    }

    private mutating func beginMember(_ header: TarHeader) throws(BackupError) {
        var size = header.size
        switch header.type {
        case "x":
            guard size <= Self.longestRecords else { throw damage("a header is too long") }
        case "0", "\0":
            size = records.size ?? size
            let path = (records.path ?? header.name).drop { $0 == UInt8(ascii: "/") }
            if !records.isLink { consumer = member([UInt8(ascii: "/")] + path) }
        // Links, devices, directories and FIFOs have no content, whatever their size is.
        case "1"..."6": size = 0
        default: throw damage("a member has an unknown type")
        }
        if header.type != "x" { records = MemberRecords() }
        padding = -size & (blockSize - 1)
        begin(header.type == "x" ? .records : .content, size)
    }

    private mutating func begin(_ next: Step, _ size: Int64) {
        (step, missing) = (next, size)
        collected.removeAll()
    }
}

/// The size of a tar block, in bytes; headers and contents are padded to it.
private let blockSize: Int64 = 512

private struct TarHeader {
    let name: ArraySlice<UInt8>
    let size: Int64
    let type: Unicode.Scalar

    init(_ block: [UInt8]) throws(BackupError) {
        let blank = (148..<156).reduce(0) { $0 + 0x20 - Int64(block[$1]) }
        guard octal(block[148..<156]) == block.reduce(blank, { $0 + Int64($1) }) else {
            throw damage("the checksum of a header is wrong")
        }
        guard let size = octal(block[124..<136]) else { throw damage("a size is not valid") }
        func text(_ field: Range<Int>) -> ArraySlice<UInt8> { block[field].prefix { $0 != 0 } }
        let prefix = text(345..<500)
        name = prefix.isEmpty ? text(0..<100) : prefix + [UInt8(ascii: "/")] + text(0..<100)
        (self.size, type) = (size, Unicode.Scalar(block[156]))
    }
}

private struct MemberRecords {
    var path: ArraySlice<UInt8>?
    var size: Int64?
    var isLink = false

    init() {}

    /// Reads records `LENGTH KEY=VALUE\n`. Only the length ends a record: values are any bytes.
    init(_ bytes: [UInt8]) throws(BackupError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let digits = rest.prefix(20).prefix { $0 != UInt8(ascii: " ") }
            guard let length = number(digits), length <= rest.count,
                case let record = rest.prefix(Int(length)).dropFirst(digits.count),
                record.first == UInt8(ascii: " "), record.last == UInt8(ascii: "\n"),
                let sign = record.firstIndex(of: UInt8(ascii: "="))
            else { throw damage("a record is not valid") }
            rest = rest.dropFirst(Int(length))
            let value = record[(sign + 1)...].dropLast()
            switch String(decoding: record[..<sign].dropFirst(), as: UTF8.self) {
            case "path" where value.isEmpty || value.contains(0):
                throw damage("a path is not valid")
            case "path": path = value
            case "linkpath": isLink = true
            case "size":
                guard let size = number(value) else { throw damage("a size is not valid") }
                self.size = size
            default: break
            }
        }
    }
}

/// The number in a header: octal digits between spaces and NULs.
private func octal(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
    let isPadded = field[digits.endIndex...].allSatisfy { $0 == 0 || $0 == 0x20 }
    return isPadded ? number(digits, radix: 8) : nil
}

/// Returns nil for no digits, other characters, and a number of more than 63 bits.
private func number(_ digits: ArraySlice<UInt8>, radix: Int64 = 10) -> Int64? {
    var number: Int64 = 0
    for digit in digits {
        let value = Int64(digit) - 0x30
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: radix)
        let (sum, overflow) = product.addingReportingOverflow(value)
        guard 0..<radix ~= value, !isTooLarge, !overflow else { return nil }
        number = sum
    }
    return digits.isEmpty ? nil : number
}

private func damage(_ reason: String) -> BackupError {
    BackupError(.unexpectedAnswer, "the tar archive is damaged: \(reason)")
}
