/// Text that is not the JSON it should be.
package struct JSONError: Error, Hashable {
    /// Where reading stopped, in bytes from the start.
    package let offset: Int

    /// Creates an error at an offset.
    package init(offset: Int) { self.offset = offset }
}
