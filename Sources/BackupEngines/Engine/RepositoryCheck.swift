/// What checking a repository found.
package struct RepositoryCheck: Sendable, Hashable {
    /// What is wrong, in the engine's words, a line each; empty for nothing.
    package var problems: [String] = []
    /// How to heal it, in order; empty when nothing is wrong, or nothing can be done.
    package var repair: [RepairStep] = []

    package init() {}
}

/// A step of healing a repository.
package struct RepairStep: Sendable, Hashable {
    /// What the step does, in words.
    package let purpose: String
    /// The command to run, word by word; it needs the same environment as the command that found
    /// the damage. Empty where no command does it.
    package let command: [[UInt8]]

    package init(purpose: String, command: [[UInt8]]) {
        self.purpose = purpose
        self.command = command
    }
}
