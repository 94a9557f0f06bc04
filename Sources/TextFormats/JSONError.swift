/// An error for text that is not the expected JSON.
package struct JSONError: Error, Hashable {
    /// The offset in bytes at which reading stopped.
    package let offset: Int

    /// Creates an error at an offset.
    package init(offset: Int) { self.offset = offset }
}
