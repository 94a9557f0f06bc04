/// Counts the items that one thread of a walk meets, and reports them in growing batches: each of the
/// first ones, so that a slow walk shows that it goes on, and later hundreds at once.
package struct ItemCounter: Sendable {
    @usableFromInline let report: @Sendable (Int) -> Void
    @usableFromInline var uncounted = 0
    @usableFromInline var batch = 1

    /// - Parameter report: called with the number of items since the last call.
    package init(_ report: @escaping @Sendable (Int) -> Void) { self.report = report }

    @inlinable
    package mutating func count() {
        uncounted += 1
        guard uncounted == batch else { return }
        finish()
        batch = min(2 * batch, 1024)
    }

    @inlinable
    package mutating func finish() {
        if uncounted > 0 { report(uncounted) }
        uncounted = 0
    }
}
