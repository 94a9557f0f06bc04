/// Text that takes a block on every filesystem.
package let block = String(repeating: "x", count: 5000)

/// Content of a number of bytes, none of them 0.
package func content(_ count: Int) -> [UInt8] { Array(repeating: 0x78, count: count) }
