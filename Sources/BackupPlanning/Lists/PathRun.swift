/// Paths to be sorted, as NUL-terminated records of bytes that compare as the paths do.
///
/// In that order, a directory comes directly before everything in it: the slash sorts before any
/// other byte.
struct PathRun: ~Copyable {
    /// The number of bytes gathered before a run is sorted. Each thread gathers its own run.
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

    /// Returns all records in order, and empties the run.
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

    /// Returns a byte's rank in the order; 0 only for NUL.
    static func rank(_ byte: UInt8) -> UInt8 {
        byte == slash ? 1 : byte < slash && byte > 0 ? byte + 1 : byte
    }

    /// Returns the byte with this rank.
    static func byte(at rank: UInt8) -> UInt8 {
        rank == 1 ? slash : rank <= slash && rank > 0 ? rank - 1 : rank
    }

    /// Whether one NUL-terminated record comes before another.
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
