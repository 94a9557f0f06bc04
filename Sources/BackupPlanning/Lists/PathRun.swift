/// Paths on their way into order, as NUL-ended records of bytes that compare as the paths do.
///
/// In that order a directory comes directly before all that is in it: a slash counts less than any
/// other byte.
struct PathRun: ~Copyable {
    /// What is gathered before it is put in order, in bytes. Each thread gathers for itself.
    private static let limit = 2 << 20

    private var bytes: [UInt8] = []
    private var starts: [UInt32] = []

    var isFull: Bool { bytes.count >= Self.limit }
    var isEmpty: Bool { starts.isEmpty }

    mutating func append(_ path: [UInt8]) {
        starts.append(UInt32(bytes.count))
        for byte in path { bytes.append(PathOrder.rank(byte)) }
        bytes.append(0)
    }

    /// All records in order. The run is empty then.
    mutating func sorted() -> [UInt8] {
        let sorted = bytes.withUnsafeBytes { bytes in
            starts.sort { PathOrder.precedes(bytes, Int($0), bytes, Int($1)) }
            return [UInt8](unsafeUninitializedCapacity: bytes.count) { target, count in
                for start in starts {
                    var index = Int(start)
                    repeat {
                        target[count] = bytes[index]
                        count += 1
                        index += 1
                    } while bytes[index - 1] != 0
                }
            }
        }
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        return sorted
    }
}

/// The order of paths: byte by byte, with the slash first.
enum PathOrder {
    private static let slash = UInt8(ascii: "/")

    /// A byte's place in the order; 0 only for NUL.
    static func rank(_ byte: UInt8) -> UInt8 {
        byte == slash ? 1 : byte < slash && byte > 0 ? byte + 1 : byte
    }

    /// The byte at a place in the order.
    static func byte(at rank: UInt8) -> UInt8 {
        rank == 1 ? slash : rank <= slash && rank > 0 ? rank - 1 : rank
    }

    /// Whether one NUL-ended record comes before another.
    static func precedes(
        _ first: UnsafeRawBufferPointer, _ start: Int, _ second: UnsafeRawBufferPointer,
        _ otherStart: Int
    ) -> Bool {
        var (index, other) = (start, otherStart)
        while first[index] == second[other] && first[index] != 0 {
            index += 1
            other += 1
        }
        return first[index] < second[other]
    }
}
