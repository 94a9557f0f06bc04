import SystemPackage

/// A system call that a fixture needed and that failed: trouble of the test, not of what it tests.
package struct FixtureError: Error, CustomStringConvertible {
    package let call: String
    package let file: String
    package let errno: Errno

    package var description: String { "\(call) \(file): \(errno)" }
}
