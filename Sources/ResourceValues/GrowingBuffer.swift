import SystemPackage

/// The most bytes that the kernel returns: `XATTR_SIZE_MAX` and `XATTR_LIST_MAX` of linux/limits.h.
private let largestAnswer = 65536

/// Reads the result of a call into a buffer, and again into a larger one if the call fails with
/// `ERANGE`.
///
/// - Throws: the call's errno; `ERANGE` itself if even the kernel's largest result does not fit.
func readGrowing(
    _ call: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
) throws(Errno) -> [UInt8] {
    var size = 256
    while true {
        var outcome: Result<Void, Errno> = .success(())
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            do throws(Errno) {
                count = try call(UnsafeMutableRawBufferPointer(buffer))
            } catch {
                outcome = .failure(error)
            }
        }
        switch outcome {
        case .success: return bytes
        case .failure(.outOfRange) where size < largestAnswer: size = largestAnswer
        case .failure(let errno): throw errno
        }
    }
}

/// Calls `body` with an array's bytes: `withUnsafeBytes` with a typed error.
func withBytes<Result>(
    of array: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Errno) -> Result
) throws(Errno) -> Result {
    try array.withUnsafeBufferPointer { buffer throws(Errno) in
        try body(UnsafeRawBufferPointer(buffer))
    }
}
