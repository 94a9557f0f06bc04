/// Text that is not the JSON it should be.
struct JSONError: Error, Hashable {
    /// Where reading stopped, in bytes from the start.
    let offset: Int
}
