import SystemCalls
import SystemPackage

/// The content of a mark's extended attribute, not parsed.
///
/// Not generic over the key's type, so that reading costs no more than the system call.
@usableFromInline
enum RawMark {
    case unset
    case short(ShortValue)
    /// More bytes than any valid value.
    case long([UInt8])
    case unreadable(Errno)
}

/// Up to 64 bytes, stored inline.
@usableFromInline
struct ShortValue {
    private var storage: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0, 0, 0, 0, 0, 0, 0, 0
    )
    private var count: Int

    /// Reads up to 64 bytes.
    ///
    /// - Parameter read: fills a buffer and returns the number of bytes.
    init(
        _ read: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    ) throws(Errno) {
        count = 0
        var failure: Errno?
        count = withUnsafeMutableBytes(of: &storage) { buffer in
            do throws(Errno) {
                return try read(buffer)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
    }

    @usableFromInline
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    @usableFromInline
    var bytes: [UInt8] { withBytes { Array($0) } }
}

/// Reads a mark's extended attribute. Errors that mean that the attribute exists but cannot be read
/// become a mark; errors that mean that the file cannot be reached are thrown.
@usableFromInline
func readRawMark(
    _ target: CallTarget, _ attribute: ExtendedAttributeName
) throws(Errno) -> RawMark {
    do throws(Errno) {
        return .short(
            try ShortValue { buffer throws(Errno) in
                try attribute.withPointer { name throws(Errno) in
                    try ExtendedAttributeCalls.get(target, name, into: buffer)
                }
            })
    } catch {
        switch error {
        case .noData, .notSupported: return .unset
        case .outOfRange: return readLongMark(target, attribute)
        case .permissionDenied: return try unreadableIfListed(target, attribute)
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .fileNameTooLong,
            .badFileDescriptor:
            throw error
        default: return .unreadable(error)
        }
    }
}

/// Distinguishes an unreadable mark from an absent one: reading needs permission on the file,
/// listing only on the directories above it.
private func unreadableIfListed(
    _ target: CallTarget, _ attribute: ExtendedAttributeName
) throws(Errno) -> RawMark {
    let names = try readGrowing { buffer throws(Errno) in
        try ExtendedAttributeCalls.list(target, into: buffer)
    }
    let isListed = names.split(separator: 0).contains { $0.elementsEqual(attribute.bytes) }
    return isListed ? .unreadable(.permissionDenied) : .unset
}

private func readLongMark(_ target: CallTarget, _ attribute: ExtendedAttributeName) -> RawMark {
    do throws(Errno) {
        let bytes = try attribute.withPointer { name throws(Errno) in
            try readGrowing { buffer throws(Errno) in
                try ExtendedAttributeCalls.get(target, name, into: buffer)
            }
        }
        return .long(bytes)
    } catch .noData {
        return .unset
    } catch {
        return .unreadable(error)
    }
}
