/// Whether a path is another one or lies below it.
func isHeld(_ path: [UInt8], by directory: [UInt8]) -> Bool {
    guard path.starts(with: directory) else { return false }
    return path.count == directory.count || directory.last == UInt8(ascii: "/")
        || path[directory.count] == UInt8(ascii: "/")
}
