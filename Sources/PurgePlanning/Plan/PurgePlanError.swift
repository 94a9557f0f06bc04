/// The reason why a text is not a valid plan.
public struct PurgePlanError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    public let description: String

    init(_ description: String) { self.description = description }
}
